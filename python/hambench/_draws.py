"""Draws: problems to sample elsewhere, a judgement of draws, and draws of the program's own."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import importlib.util
import json
import math
import numbers
import os
import pathlib
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, overload

from hambench._certify import served
from hambench._model import Model, OnData
from hambench._program import HambenchError, call, scratch, understood
from hambench._sampler import Sampler, plain, whole


# Of this process, a function that makes one of the program's data, or the name of one.
AnyModel = Model | Callable[[Mapping[str, Any]], Model] | str


@dataclasses.dataclass(frozen=True)
class Judgement:
    """Whether draws are of the reference's law: "accepted", "refused" or "undecided", and why; ``data`` is all that the program says (docs/judge.md)."""

    verdict: str
    why: str
    data: Mapping[str, Any] = dataclasses.field(repr=False)

    @property
    def accepted(self) -> bool:
        return self.verdict == "accepted"

    def __str__(self) -> str:
        compared, all_columns = self.data["compared"], self.data["reference_columns"]
        verdict = f"{self.verdict} in {compared} of {all_columns} columns" if self.accepted and compared < all_columns else self.verdict
        if self.accepted and self.data.get("copied"):
            verdict += f", with draws of the reference's own ({self.data['copied']})"
        lines = [f"{verdict}: {self.why}" if self.why else verdict]
        for side in ("draws", "reference"):
            effective = self.data[side].get("effective")
            lines.append(f"{side}: {self.data[side]['draws']} draws, effective {'–' if effective is None else format(effective, '.0f')}")
        for side in ("draws", "reference"):
            if names := self.data.get(f"only_in_{side}"):
                lines.append(f"only in the {side}, and not compared: {', '.join(names[:10])}{', …' if len(names) > 10 else ''}")
        lines += [f"refuses {p['of']} with probability {p['power']:.2f}" for p in self.data["power"] or ()]
        return "\n".join(lines)


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
        with path.open(encoding="utf-8", newline="") as file:
            return [[float(x) for x in line] for line in list(csv.reader(file))[1:]]


@contextlib.contextmanager
def _flags(model: AnyModel | None, **settings: Any) -> Iterator[list[str]]:
    """The program's flags for settings, those that are None or False left out (no flag is on by default); a model of this process is served meanwhile."""
    if isinstance(model, Sampler):
        raise HambenchError("this is a sampler, to be certified: want a model of hambench.model")
    names = {"k": "K"}
    flags = []
    for k, v in settings.items():
        name = "--" + names.get(k, k).replace("_", "-")
        if plain(v) is True:
            flags.append(f"{name}=true")  # alone a flag that wants a number would take the next one for it
        elif v is not None and plain(v) is not False:
            flags += [name, str(v)]
    ours = OnData(model) if callable(model) else model
    with served(ours) if isinstance(ours, (Model, OnData)) else contextlib.nullcontext() as command:
        if model is not None:
            flags += ["--model", f"exec:{command}" if command else str(model)]
        yield flags


def problem(dataset: str | os.PathLike[str], *, to: str | pathlib.Path, split: int = 0, model: str | None = None, noise: float | None = None) -> Problem:
    """Writes what another program needs to sample the posterior of a data set, and reads its description.

    dataset: a name, or a CSV file whose last column is the target; noise: the variance of its standardised target's noise, if that is a number.
    """
    folder = pathlib.Path(to)
    with _flags(model, dataset=dataset, split=split, noise=noise, to=folder) as flags:
        call(["data", "export", *flags])
    with understood():
        return Problem(folder, json.loads((folder / "problem.json").read_text(encoding="utf-8")))


_CHAIN = r"(?i:\.?chain|chain__)"  # the names of columns that say of which chain a row is


def _number(x: Any, where: str) -> float:
    try:
        number = float(x)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{where}: {x!r}: want a number") from error
    if isinstance(x, numbers.Integral) and int(number) != int(x):  # as Python's: a comparison of numpy's would round both
        raise ValueError(f"{where}: {x!r}: a float64 has not as many digits: want smaller numbers")
    return number


def _framed(x: Any) -> bool:
    """Whether it is a DataFrame: a variable or an attribute of a Dataset may have the name "columns", which its class has not."""
    return hasattr(type(x), "columns")


def _table(chain: Any, i: int, group: str) -> tuple[list[str], list[list[float | str]]]:
    """The columns and rows of a chain: a DataFrame's by its names, an array's f0 …, or x[1] … of a posterior. Labels of chains are texts."""
    if hasattr(chain, "dims") and not _framed(chain):
        raise TypeError(f"chain {i} is of xarray: want one Dataset of all chains, or arrays, as array.values")
    levels = list(getattr(getattr(chain, "index", None), "names", ()) if _framed(chain) else ())
    if len(levels) > 1 and (more := [str(name) for name in levels if not re.fullmatch(rf"{_CHAIN}|draw|iteration|sample", str(name))]):
        raise ValueError(f"chain {i} has rows by {', '.join(more)}: want a row a draw, or the Dataset instead of its DataFrame")
    for level in levels:
        if re.fullmatch(_CHAIN, str(level)) and level not in chain.columns:
            chain = chain.reset_index(level)
    names = [str(c) for c in (chain.columns if _framed(chain) else getattr(getattr(chain, "dtype", None), "names", None) or ())]
    if "" in names:
        raise ValueError(f"chain {i} has a column without a name: give it one")
    rows: Any = chain
    if _framed(chain):  # pandas' columns keep their types: of one for all, text would be that of numbers, and large labels would be rounded
        rows = chain.to_numpy(dtype=object) if levels else chain.to_numpy()
    if getattr(getattr(rows, "dtype", None), "kind", "") in ("M", "m"):
        raise ValueError(f"chain {i} has times: want numbers")
    rows = rows.tolist() if hasattr(rows, "tolist") else rows
    shape, part = [], rows
    while hasattr(part, "__len__") and not isinstance(part, str):
        shape.append(len(part))
        part = next(iter(part), None)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"chain {i} has the shape ({', '.join(map(str, shape))}): want a list with one array of (draws, columns) for each chain")
    if unlike := [j for j, row in enumerate(rows) if isinstance(row, Mapping) or not hasattr(row, "__len__") or len(row) != shape[1]]:
        raise ValueError(f"chain {i}, draw {unlike[0]}: want a row of {shape[1]} numbers")
    named = bool(names)
    names = names or [f"f{j}" if group == "predictions" else f"x[{j + 1}]" for j in range(shape[1])]
    kept = [j for j, name in enumerate(names) if group == "posterior" or re.fullmatch(rf"f\d+|{_CHAIN}", name)]
    read = [str if named and re.fullmatch(_CHAIN, names[j]) else functools.partial(_number, where=f"chain {i}, column {names[j]}") for j in kept]
    return [names[j] for j in kept], [[of(row[j]) for of, j in zip(read, kept)] for row in rows]


def _array(x: Any, name: Any, dtype: type | None = None) -> Any:
    """An array of numpy, of floats if that is the type. Arrays of xarray come by chain and draw, whatever the order of their dimensions."""
    import numpy as np

    if hasattr(x, "dims"):
        if not {"chain", "draw"} <= set(x.dims):
            raise ValueError(f"array {name} has the dimensions {', '.join(map(str, x.dims))}: want chain and draw")
        x = x.transpose("chain", "draw", ...).values
    try:
        return np.asarray(x, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"array {name}: want numbers: {error}") from error


def _named(draws: Mapping[str, Any]) -> list[tuple[list[str], list[list[float]]]]:
    """The columns and rows of each chain of arrays by name, each of shape (chain, draw, …): theta[1], x[1,2] …"""
    import numpy as np

    if chains := [name for name in draws if re.fullmatch(_CHAIN, str(name))]:
        raise ValueError(f"an array {chains[0]}: arrays have their chains by their first dimension; give a parameter another name")
    if "" in draws:
        raise ValueError("an array without a name: give it one")
    if frames := [name for name, a in draws.items() if _framed(a)]:
        raise TypeError(f"a DataFrame by the name {frames[0]}: want a list with one for each chain")
    if masked := [name for name, a in draws.items() if np.ma.is_masked(a)]:
        raise ValueError(f"masked elements in {', '.join(masked)}: draws have a number each")
    arrays = {name: _array(a, name) for name, a in draws.items()}
    if times := [name for name, a in arrays.items() if a.dtype.kind in "mM"]:
        raise TypeError(f"times in {', '.join(times)}: want numbers")

    def wide(a: Any) -> bool:
        if a.dtype.kind == "O":
            return any(isinstance(x, numbers.Integral) and abs(int(x)) > 2**53 for x in a.flat)
        return a.dtype.kind in "iu" and a.size > 0 and max(int(a.max()), -int(a.min())) > 2**53

    if large := [name for name, a in arrays.items() if wide(a)]:
        raise ValueError(f"whole numbers above 2**53 in {', '.join(large)}: a float64 has not as many digits: want smaller numbers")
    if complex_ := [name for name, a in arrays.items() if np.iscomplexobj(a)]:
        raise TypeError(f"complex numbers in {', '.join(complex_)}: want real ones, such as real and imaginary parts by names of their own")
    arrays = {name: _array(a, name, float) for name, a in arrays.items() if 0 not in a.shape[2:]}  # without elements, as zarr may have them
    if any(a.ndim < 2 or 0 in a.shape[:2] or a.shape[:2] != next(iter(arrays.values())).shape[:2] for a in arrays.values()):
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ValueError(f"arrays of the shapes {shapes}: want (chain, draw, …) of each, with as many chains and draws, and at least one")
    names = [str(name) + (f"[{','.join(str(i + 1) for i in at)}]" if at else "") for name, a in arrays.items() for at in np.ndindex(a.shape[2:])]
    count = next(iter(arrays.values())).shape[0] if arrays else 0
    return [(names, np.concatenate([a[c].reshape(a.shape[1], -1) for a in arrays.values()], axis=1).tolist()) for c in range(count)]


def _side(draws: Any, folder: pathlib.Path, group: str) -> list[str]:
    """Files of the draws of one side, in any form that judge takes."""
    frame = _framed(draws)  # of whose columns any may be an attribute
    if hasattr(draws, "dims") and not hasattr(draws, "data_vars") and not frame:
        raise TypeError("a DataArray has the draws of one variable: want its Dataset, as array.to_dataset(name=…), or arrays by name")
    # Of ArviZ: a method of InferenceData, a property of DataTree. A variable of a Dataset may have that name.
    groups = getattr(draws, "groups", None) if hasattr(type(draws), "groups") and not frame else None
    if groups is not None and len(getattr(draws, "data_vars", ())) > 0:  # a group of a DataTree, not its root
        draws, groups = draws.dataset, None
    if groups is not None and not hasattr(draws, group):
        raise ValueError(f"no group {group}: the object has {', '.join(groups() if callable(groups) else groups)}")
    if groups is not None or hasattr(draws, "data_vars") and not frame:
        of = getattr(draws, group) if groups is not None else draws
        of = of.dataset if hasattr(of, "subtree") else of  # a DataTree's; an attribute of a Dataset may have that name
        if not {"chain", "draw"} <= set(of.dims):
            raise ValueError(f"the dimensions {', '.join(map(str, of.dims))}: want chain and draw, as of az.extract(…, combined=False)")
        if group == "predictions":
            if "f" not in of:
                raise ValueError(f"no variable f in the predictions: there is {', '.join(map(str, of.data_vars))}")
            draws = {"f": of["f"].transpose("chain", "draw", ...).values}
        else:
            drawn = {str(name): v for name, v in of.data_vars.items() if {"chain", "draw"} <= set(v.dims)}
            draws = {name: v.transpose("chain", "draw", ...).values for name, v in drawn.items() if v.dtype.kind not in "SU"}
            if not draws:
                found = [f"{name} ({', '.join(map(str, v.dims))}) of {v.dtype}" for name, v in of.data_vars.items()]
                raise ValueError(f"no variable of numbers by chain and draw: there is {', '.join(found) or 'none'}")
            if texts := [name for name in drawn if name not in draws]:
                warnings.warn(f"texts in {', '.join(texts)}: left out", stacklevel=3)
    if isinstance(draws, Mapping) and group == "predictions" and "f" in draws:  # as sample(predictions=True) returns them
        values = _array(draws["f"], "f", float)
        draws = list(values.reshape(*values.shape[:2], -1)) if values.ndim > 2 else draws
    if isinstance(draws, (str, pathlib.Path)) or frame:
        draws = [draws]
    if not hasattr(draws, "__iter__"):
        raise TypeError(f"draws of the type {type(draws).__name__}: want an object of ArviZ, arrays by name, or a list with one entry a chain")
    chains = _named(draws) if isinstance(draws, Mapping) else draws
    files = []
    for i, chain in enumerate(chains):
        if not isinstance(chain, (str, pathlib.Path)):
            names, rows = chain if isinstance(draws, Mapping) else _table(chain, i, group)
            chain = folder / f"chain{i}.csv"
            with chain.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, quoting=csv.QUOTE_NONNUMERIC).writerows([names, *rows])  # a name may begin with #, as comments do
        files.append(str(chain))
    if not files:
        raise ValueError("no chains: give a list with one CSV, DataFrame or array for each chain")
    return files


def judge(
    draws: Any,
    *,
    reference: Any = None,
    dataset: str | os.PathLike[str] | None = None,
    model: AnyModel | None = None,
    noise: float | None = None,
    precision: str | None = None,
    split: int | None = None,
    out: str | pathlib.Path | None = None,
    gradients: float | None = None,
) -> Judgement:
    """Compares draws with reference draws, or with a posterior: either ``reference``, or ``dataset`` or ``model`` or both.

    draws, reference: an ArviZ object, whose ``posterior`` is compared; arrays of shape (chain, draw, …) by name; or a list with one entry a chain: a file, a
        DataFrame, or an array of shape (draws, columns).
    dataset, noise: as in :func:`problem`; the draws are then of the predictive values f0 … at the test inputs, of ArviZ the ``predictions``. model: one of the
        program's, or of :func:`hambench.model`; the data set's own if left out.
    precision: "float32" or "float64", of a network's reference chains.
    out: the store with the reference chains, which are made there if missing.
    gradients: what all draws cost, for the effective size for each 1000 of them.
    """
    if (reference is None) == (dataset is None and model is None):
        raise ValueError("give either a reference, or a dataset or model")
    group = "predictions" if reference is None else "posterior"
    settings = {"dataset": dataset, "noise": noise, "precision": precision, "split": split, "out": out, "gradients": gradients}
    with scratch() as folder, _flags(model, **settings) as flags:
        for side in ("draws", "reference"):
            (folder / side).mkdir()
        if reference is not None:
            flags += [x for file in _side(reference, folder / "reference", group) for x in ("--reference", file)]
        report = call(["judge", "--json", *flags, "--", *_side(draws, folder / "draws", group)], allowed=(1, 3))
    # A report names the files, too: as errors do.
    with understood():
        data = json.loads(report.replace(json.dumps(f"{folder}{os.sep}", ensure_ascii=False)[1:-1], ""))
        return Judgement(data["verdict"], data.get("why", ""), data)


@overload
def sample(
    *, model: AnyModel | None = None, chains: int = 1, seed: int = 1, predictions: bool = False, arviz: Literal[False] = False, **settings: str | float | os.PathLike[str]
) -> dict[str, list[Any]]: ...


@overload
def sample(
    *, model: AnyModel | None = None, chains: int = 1, seed: int = 1, predictions: bool = False, arviz: bool, **settings: str | float | os.PathLike[str]
) -> Any: ...


def sample(
    *,
    model: AnyModel | None = None,
    chains: int = 1,
    seed: int = 1,
    predictions: bool = False,
    arviz: bool = False,
    **settings: str | float | os.PathLike[str],
) -> Any:
    """Draws of the program's own chains, run side by side: {"theta": chains × draws × parameters}, nested lists.

    model: of :func:`hambench.model`, which this process then answers for, or a function that makes one of the program's data, as :func:`serve`
        takes it; or a name such as "toy", or "exec:CMD"; the data set's own if left out.
    predictions: "f", the predictive values at the test inputs, in place of "theta".
    arviz: return an xarray.DataTree instead, with the groups of docs/draws.md, as ArviZ 1 takes it (wants xarray and zarr).
    settings: flags of ``hambench sample``, such as integrator="baoab", h=0.1, samples=500, dataset="linear"; of coupled=True the draws are the
        differences, and a warning says what they say of the bias (docs/draws.md).
    """
    (chains,) = whole(chains=chains)
    if chains < 1:
        raise ValueError(f"chains={chains}: want 1 or more")
    if taken := sorted({"format", "to"} & settings.keys()):
        raise ValueError(f"{taken[0]}={settings[taken[0]]!r}: sample returns the draws; hambench sample writes them to files")
    # Coupled chains are two, and their differences come as those of one.
    with _flags(model, chains=None if settings.get("coupled") and chains == 1 else chains, seed=seed, **settings) as flags:
        if arviz:
            return _tree(flags)
        if predictions:
            flags.append("--predictions")
        out = call(["sample", "--format", "jsonl", *flags])
    name = "f" if predictions else "theta"
    draws: list[list[list[float]]] = [[] for _ in range(chains)]
    with understood():
        for line in map(json.loads, out.splitlines()):
            draws[line.get("chain", 0)].append([math.nan if x is None else x for x in line[name]])
        if not all(draws):
            raise ValueError("a chain without draws")
    return {name: draws}


def _tree(flags: Sequence[str]) -> Any:
    """The draws of a run as an xarray.DataTree."""
    missing = [library for library in ("xarray", "zarr") if importlib.util.find_spec(library) is None]
    if missing:
        raise HambenchError(f"arviz=True needs {' and '.join(missing)}: pip install xarray zarr")
    import xarray

    with scratch() as folder:
        path = folder / "draws.zarr"
        call(["sample", "--format", "zarr", "--to", str(path), *flags])
        with xarray.open_datatree(path, engine="zarr") as tree:
            return tree.load()
