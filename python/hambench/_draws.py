"""Draws: problems to sample elsewhere, a judgement of draws, and draws of the program's own."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from hambench._certify import served
from hambench._model import Model
from hambench._program import HambenchError, call


@dataclasses.dataclass(frozen=True)
class Judgement:
    """How far draws are from a posterior; ``data`` is all that the program says.

    ``undecided`` says why the draws decide nothing (too few, never moved, not mixed); it is empty if they do.
    """

    accepted: bool
    distance: float
    data: Mapping[str, Any] = dataclasses.field(repr=False)
    undecided: str = ""


@dataclasses.dataclass(frozen=True)
class Problem:
    """A posterior to sample: ``description`` is problem.json, ``folder`` has the standardised rows as CSV."""

    folder: pathlib.Path
    description: Mapping[str, Any] = dataclasses.field(repr=False)

    def rows(self, name: str) -> list[list[float]]:
        """The numbers of a CSV of the folder, such as ``rows("train")``."""
        path = self.folder / f"{name}.csv"
        if not path.is_file():
            raise HambenchError(f"{path} is missing: want one of {', '.join(sorted(p.stem for p in self.folder.glob('*.csv')))}")
        with path.open(newline="") as file:
            return [[float(x) for x in line] for line in list(csv.reader(file))[1:]]


def problem(dataset: str, *, to: str | pathlib.Path, split: int = 0) -> Problem:
    """Writes what another program needs to sample the posterior of a data set, and reads its description."""
    folder = pathlib.Path(to)
    call(["data", "export", "--dataset", dataset, "--split", str(split), "--to", str(folder)])
    return Problem(folder, json.loads((folder / "problem.json").read_text()))


def judge(chains: Sequence[str | pathlib.Path | Sequence[Sequence[float]]], *, dataset: str, split: int = 0, out: str | pathlib.Path = "out") -> Judgement:
    """Compares draws with a data set's posterior.

    chains: one entry a chain: a CSV with columns f0 …, or an array of shape (draws, test inputs) of predictive values.
    out: the store with the reference chains, which are made there if missing.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, chain in enumerate(chains):
            if not isinstance(chain, (str, pathlib.Path)):
                path = pathlib.Path(folder) / f"chain{i}.csv"
                with path.open("w", newline="") as file:
                    lines = csv.writer(file)
                    lines.writerow([f"f{j}" for j in range(len(chain[0]))])
                    lines.writerows([[repr(float(x)) for x in row] for row in chain])
                chain = path
            files.append(str(chain))
        if not files:
            raise HambenchError("no chains: give one CSV or one array a chain")
        done = call(["judge", "--json", "--dataset", dataset, "--split", str(split), "--out", str(out), *files], allowed=(0, 1, 3))
    if not done.stdout.strip():
        raise HambenchError(done.stderr.strip().splitlines()[-1])
    data = json.loads(done.stdout)
    return Judgement(done.returncode == 0, data["distance"], data, data.get("undecided", ""))


def sample(*, model: Model | str | None = None, chains: int = 1, seed: int = 1, predictions: bool = False, **settings: str | float) -> dict[str, list[Any]]:
    """Draws of the program's own chains, run side by side: {"theta": chains × draws × parameters}, nested lists.

    ``arviz.from_dict`` takes them as arrays: {"posterior": {"theta": numpy.array(draws["theta"])}}.

    model: of :func:`hambench.model`, which this process then answers for, or a name such as "toy", or "exec:CMD"; the data set's own if left out.
    predictions: "f", the predictive values at the test inputs, in place of "theta".
    settings: flags of ``hambench sample``, such as integrator="baoab", h=0.1, samples=500, dataset="linear".
    """
    names = {"k": "K"}
    flags = [x for k, v in settings.items() for x in (f"--{names.get(k, k).replace('_', '-')}", str(v))]
    with served(model) if isinstance(model, Model) else contextlib.nullcontext() as command:
        if model is not None:
            flags += ["--model", f"exec:{command}" if command else str(model)]
        if predictions:
            flags.append("--predictions")
        done = call(["sample", "--format", "jsonl", "--chains", str(chains), "--seed", str(seed), *flags])
    draws: list[Any] = [[] for _ in range(chains)]
    for line in map(json.loads, done.stdout.splitlines()):
        draws[line["chain"]].append(line["values"])
    return {"f" if predictions else "theta": draws}
