"""Exact orders of a sampler, from the program."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import numbers
import os
import pathlib
import secrets
import shlex
import socket
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from hambench._program import HambenchError, call, scratch, understood
from hambench._sampler import Answers, Sampler, converse


class CertificationError(AssertionError):
    """A claim that does not hold."""


def _number(x: float | None) -> float:
    return math.nan if x is None else x


@dataclasses.dataclass(frozen=True)
class Observable:
    """The errors of one observable at the steps of its row. What is not known is NaN."""

    name: str
    errors: tuple[float, ...]
    resolution: tuple[float, ...]
    relative: tuple[float, ...]
    order: float
    uncertainty: float
    constant: float
    predicted: float  # the constant, by the law of orders, of an error of the order predicted_order
    predicted_order: float
    at_least: float
    claim: float  # inf: that the law is exact
    verdict: str

    @property
    def holds(self) -> bool:
        """Whether the claim is confirmed, or there is no error."""
        return self.verdict in ("confirmed", "exact")


@dataclasses.dataclass(frozen=True)
class Row:
    """What was found of a sampler on a problem under a mini-batch scheme."""

    problem: str
    integrator: str
    scheme: str
    nl: int
    steps: tuple[float, ...]
    observables: tuple[Observable, ...]
    data: Mapping[str, Any] = dataclasses.field(repr=False)  # all that the program says

    def __getitem__(self, observable: str) -> Observable:
        for o in self.observables:
            if o.name == observable:
                return o
        raise KeyError(f"{observable!r}: want one of {', '.join(o.name for o in self.observables)}")


class Rows(Sequence[Row]):
    """The rows of a certification; printed, a table."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, i: int) -> Row: ...

    @overload
    def __getitem__(self, i: slice) -> Rows: ...

    def __getitem__(self, i: int | slice) -> Row | Rows:
        return Rows(self._rows[i]) if isinstance(i, slice) else self._rows[i]

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, *, problem: str | None = None, scheme: str | None = None, integrator: str | None = None) -> Rows:
        """The rows that fit."""
        wanted = {"problem": problem, "scheme": scheme, "integrator": integrator}
        return Rows([r for r in self._rows if all(v is None or getattr(r, k) == v for k, v in wanted.items())])

    def order(self, observable: str, *, scheme: str, problem: str = "gaussian", integrator: str | None = None) -> float:
        """The order that was found; infinite where there is no error, NaN if it is not known. integrator: of a row of several, by its name."""
        found = self.find(problem=problem, scheme=scheme, integrator=integrator)
        if len(found) != 1:
            of = "" if integrator is None else f" of {integrator}"
            raise HambenchError(f"{len(found)} rows{of} on {problem} under {scheme}: want one; there are {self._names() or 'none'}")
        o = found[0][observable]
        return math.inf if o.verdict == "exact" else o.order

    def _names(self) -> str:
        return ", ".join(f"{r.integrator} on {r.problem} under {r.scheme}" for r in self._rows)

    def _lines(self, failing: bool) -> Iterator[str]:
        for r in self._rows:
            for o in r.observables:
                if not (failing and o.holds):
                    order = "" if math.isnan(o.order) else f", order {o.order:g}"
                    claim = "exact" if math.isinf(o.claim) else f"order {o.claim:g}"
                    found = f"relative error {o.relative[-1]:.3g} at h = {r.steps[-1]:g}"
                    if math.isnan(o.relative[-1]) and not math.isnan(o.predicted):
                        found = f"predicted: {o.predicted:.4g} h^{o.predicted_order:g}"
                    yield f"{r.integrator} on {r.problem} under {r.scheme}: {o.name}: {o.verdict}{order} (claimed: {claim}; {found})"

    def assert_claims(self) -> Rows:
        """Raises an AssertionError that lists the claims that do not hold; returns the rows if there are none."""
        if not self._rows:
            raise CertificationError("there are no rows: nothing was certified")
        failing = list(self._lines(failing=True))
        if failing:
            raise CertificationError("these claims do not hold:\n  " + "\n  ".join(failing))
        return self

    def __str__(self) -> str:
        return "\n".join(self._lines(failing=False))

    def __repr__(self) -> str:  # which a notebook shows
        return f"{len(self)} rows\n{self}"


def _row(data: Mapping[str, Any]) -> Row:
    observables = tuple(
        Observable(
            name=o["name"],
            errors=tuple(map(_number, o["errors"])),
            resolution=tuple(map(_number, o["resolution"])),
            relative=tuple(map(_number, o["relative"])),
            order=_number(o["order"]),
            uncertainty=_number(o["uncertainty"]),
            constant=_number(o["constant"]),
            predicted=_number(o.get("predicted")),
            predicted_order=_number(o.get("predicted_order")),
            at_least=_number(o["at_least"]),
            claim=math.inf if o["claim"] is None else o["claim"],
            verdict=o["verdict"],
        )
        for o in data["observables"]
    )
    return Row(data["problem"], data["integrator"], data["scheme"], data["nl"], tuple(data["steps"]), observables, data)


class _Server:
    """Answers the program's questions for a sampler or a model of this process, on a port of this machine."""

    def __init__(self, answers: Answers) -> None:
        self.failures: list[HambenchError] = []
        self.name = answers.name
        self._answers, self._turn = answers, threading.Lock()
        self._token = secrets.token_hex(16)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._ended = False
        self._threads[0].start()

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """One question at a time, whichever chain asks: a user's function may keep something, as a network does its weights."""
        with self._turn:
            return self._answers.answer(question)

    def command(self) -> str:
        """The command by which the program reaches this process."""
        relay = pathlib.Path(__file__).with_name("_relay.py")
        return " ".join(shlex.quote(str(x)) for x in (sys.executable, "-S", relay, self._socket.getsockname()[1], self._token))

    def _accept(self) -> None:
        while True:
            link = self._socket.accept()[0]
            if self._ended:
                link.close()
                return
            self._threads.append(threading.Thread(target=self._answer, args=(link,), daemon=True))
            self._threads[-1].start()

    def _answer(self, link: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), link, link.makefile("rw", encoding="utf-8", newline="\n") as lines:
            if secrets.compare_digest(lines.readline().strip(), self._token):
                converse(self, lines, lines, self.failures)

    def close(self) -> None:
        """Ends the threads; one that is still inside the user's function ends with it."""
        self._ended = True
        with contextlib.suppress(OSError), socket.create_connection(self._socket.getsockname()):
            self._threads[0].join()  # closing a socket does not end its accept
        self._socket.close()
        for thread in self._threads[1:]:
            thread.join(_PATIENCE)


_PATIENCE = 1.0  # seconds


@contextlib.contextmanager
def served(s: Answers) -> Iterator[str]:
    """A command that answers for a sampler or a model of this process, while the context lasts.

    What failed here is the error, instead of the program's words about it.
    """
    server = _Server(s)
    try:
        yield server.command()
    except HambenchError as said:
        if server.failures:
            first = server.failures[0]
            raise first from first.__cause__
        shown = server.command()  # as the program shortens it
        shown = shown if len(shown) <= 200 else shown[:200] + " …"
        raise HambenchError(str(said).replace(shown, s.name)) from None
    finally:
        server.close()


def _listed(x: Any) -> Any:
    """An array as JSON takes it."""
    if not hasattr(x, "tolist"):
        raise HambenchError(f"problem: {x!r}: want numbers, texts, lists and dicts")
    return x.tolist()


def certify(
    sampler: Sampler | str,
    *,
    problem: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    scheme: str | Sequence[str] = (),
    steps: Sequence[float] | Any = (),
    integrator: str | Sequence[str] = (),
    observe: str = "period",
    timeout: float = 60,
) -> Rows:
    """Certifies a sampler: exact errors of its stationary law, and their orders in the step.

    sampler: of :func:`sampler`, or a command that speaks the protocol (docs/samplers.md).
    problem: "gaussian", "scalar", "toy" (these three if left out), "linear", "crossing" (predictions alone), a file of JSON, or a problem as a dict.
    scheme: one or some of "full", "reshuffle", "replacement", "cyclic", "symmetric"; all if left out.
    integrator: one or some of the program's, for rows of their own beside the sampler's.
    steps: a sequence or an array of step sizes; a geometric grid if left out.
    timeout: seconds for each answer; the first one compiles, if anything does. A function that has not returned by then goes on
        computing, in a thread that ends with it or with Python.
    """
    if callable(sampler) and not isinstance(sampler, Sampler):
        raise HambenchError(f"{getattr(sampler, '__name__', sampler)} is a function: wrap the step first: hambench.sampler(step, …)")
    if not isinstance(sampler, str) and not hasattr(sampler, "name"):
        raise HambenchError(f"{sampler!r}: want a sampler of hambench.sampler, or a command")
    if isinstance(sampler, str) and not sampler.strip():
        raise HambenchError("the command is empty: want one that speaks the protocol, or a sampler of hambench.sampler")
    if isinstance(steps, str) or not hasattr(steps, "__iter__"):
        raise ValueError(f"steps={steps!r}: want some, such as [0.2, 0.1, 0.05]")
    steps = list(steps)
    if not isinstance(timeout, numbers.Real) or not 0 < timeout < math.inf:
        raise ValueError(f"timeout={timeout!r}: want a number of seconds above 0")
    with scratch() as folder:
        if isinstance(problem, Mapping):  # in a file, since the words of a command have a limit of length
            (folder / "given").write_text(json.dumps(problem, default=_listed), encoding="utf-8")
            problem = str(folder / "given")
        arguments = ["certify", "--json", "--observe", observe, "--exec-timeout", f"{timeout:.9f}s"]
        if problem is not None:
            arguments += ["--problem", str(problem)]
        for flag, value in (("--scheme", scheme), ("--integrator", integrator)):
            names = value if isinstance(value, str) else ",".join(() if value is None else value)
            if names:
                arguments += [flag, names]
        if len(steps):
            arguments += ["--steps", ",".join(repr(float(h)) for h in steps)]
        with contextlib.nullcontext(sampler) if isinstance(sampler, str) else served(sampler) as command:
            out = call([*arguments, "--exec", command])
    with understood():
        return Rows([_row(r) for r in json.loads(out)])
