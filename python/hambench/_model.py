"""Models: a posterior in Python, whose gradients the program asks for."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import pathlib
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hambench._program import HambenchError
from hambench._sampler import Backend, Sampler, blame, check_backend, check_protocol, check_x64, converse, shape, told, whole

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Model:
    """A posterior with what the program has to know of it; made by :func:`model`."""

    name: str
    dim: int
    rows: int
    outputs: int
    backend: Backend
    files: Sequence[str]
    functions: Mapping[str, Function]

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Answers a question of the protocol (docs/samplers.md)."""
        op = question["op"]
        if op == "hello":
            check_protocol(question, model=True)
            return {
                "version": question["version"],
                "name": self.name,
                "dim": self.dim,
                "rows": self.rows,
                "outputs": self.outputs,
                "hessian": "product" in self.functions,
                "files": [*self.files, *_own_files()],
            }
        if op not in self.functions:
            raise HambenchError(f"{op}: this model has none; it has {', '.join(self.functions)}")
        with blame(op):
            return {"values": [self._values(op, question, i) for i in range(len(question["thetas"]))]}

    def _values(self, op: str, question: Mapping[str, Any], i: int) -> list[float | None]:
        """The numbers of one position; None where one is not finite."""
        array = _ARRAYS[self.backend]
        wanted = {"potential": 1, "predict": self.outputs}.get(op, self.dim)
        arguments = [array(question[k][i]) for k in ("thetas", "vectors") if k in question]
        if op != "predict":
            arguments += [self._rows(question), float(question["scale"])]
        try:
            out = self.functions[op](*arguments)
        except OverflowError:  # of floats: far out a chain has no potential
            return [None] * wanted
        if shape(out) != (wanted,) and not (wanted == 1 and shape(out) == ()):
            want = "a number" if op == "potential" else f"the shape ({wanted},)"
            raise HambenchError(f"{op} of the model {self.name} returned {told(out)}: return {want}")
        out = out.tolist() if hasattr(out, "tolist") else out
        try:
            numbers = [float(x) for x in (out if isinstance(out, Sequence) else [out])]
        except (TypeError, ValueError) as error:  # masked elements, complex numbers, lists within lists
            raise HambenchError(f"{op} of the model {self.name} returned what is no real number: {error}") from error
        return [x if math.isfinite(x) else None for x in numbers]

    def _rows(self, question: Mapping[str, Any]) -> Any:
        """The rows, as something that arrays can be indexed by; compiled functions need their number, not where they are."""
        index = question.get("index")
        first, end = question.get("rows", (0, 0))
        if self.backend == "jax" or self.backend == "torch":
            return _ARRAYS[self.backend](index or list(range(first, end)), whole=True)
        if self.backend == "numpy":
            return index or slice(first, end)
        return index or range(first, end)


def _jax(x: Sequence[float], whole: bool = False) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(x, dtype=int if whole else float)


def _torch(x: Sequence[float], whole: bool = False) -> Any:
    import torch

    return torch.tensor(x, dtype=torch.long if whole else torch.float64)


def _numpy(x: Sequence[float]) -> Any:
    import numpy as np

    return np.asarray(x, dtype=float)


_ARRAYS: dict[str, Callable[..., Any]] = {"python": list, "numpy": _numpy, "jax": _jax, "torch": _torch}


def _derivatives(backend: Backend, potential: Function) -> dict[str, Function]:
    """What a library derives from a potential, compiled."""

    def number(theta: Any, rows: Any, scale: float) -> Any:
        out = potential(theta, rows, scale)
        if shape(out) != ():
            raise HambenchError(f"potential returned {told(out)}: return a number")
        return out

    if backend == "jax":
        import jax

        check_x64()
        grad = jax.grad(number)

        def product(theta: Any, v: Any, rows: Any, scale: float) -> Any:
            return jax.jvp(lambda t: grad(t, rows, scale), (theta,), (v,))[1]

        return {"potential": jax.jit(number), "gradient": jax.jit(grad), "product": jax.jit(product)}
    if backend == "torch":
        import torch

        slope = torch.func.grad(number)

        def along(theta: Any, v: Any, rows: Any, scale: float) -> Any:
            return torch.func.jvp(lambda t: slope(t, rows, scale), (theta,), (v,))[1]

        return {"potential": number, "gradient": slope, "product": along}
    return {"potential": potential}


def _own_files() -> list[str]:
    """The script and the modules in its folder, without what is installed, which may be below a home folder with a script."""
    main = getattr(sys.modules["__main__"], "__file__", None)
    if main is None:
        return []
    folder = pathlib.Path(main).resolve().parent
    files = {pathlib.Path(f).resolve() for m in list(sys.modules.values()) if (f := getattr(m, "__file__", None)) and f.endswith(".py")}
    installed = {pathlib.Path(sysconfig.get_paths()[k]).resolve() for k in ("stdlib", "platstdlib")} | {pathlib.Path(__file__).resolve().parent}
    return sorted(
        str(f)
        for f in files
        if f.is_file() and folder in f.parents and not {"site-packages", "dist-packages"} & set(f.parts) and not installed & set(f.parents)
    )


def model(
    potential: Function,
    *,
    dim: int,
    rows: int,
    name: str | None = None,
    gradient: Function | None = None,
    product: Function | None = None,
    predict: Function | None = None,
    outputs: int = 0,
    backend: Backend = "numpy",
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
) -> Model:
    """Wraps a posterior: ``potential(theta, rows, scale)`` is scale·Σ −log p(row | theta) over some rows − log p(theta).

    dim: the number of parameters. Their scale should be about 1, and they must have no bounds.
    rows: the number of rows in all; the argument ``rows`` is something to index them by: with "numpy" a slice or a list of numbers, with
        "jax" and "torch" an array of numbers, with "python" a sequence of numbers.
    gradient: ``gradient(theta, rows, scale)``, the potential's. With "jax" and "torch" it is derived if left out.
    product: ``product(theta, v, rows, scale)``, the Hessian's product with v, which mt3 needs. It is derived with the gradient: not beside one that is given.
    predict: ``predict(theta)``, ``outputs`` numbers by which chains are judged; the parameters if left out.
    backend: "numpy", "jax" (functions are compiled), "torch", or "python" (lists).
    files: one or some that the numbers depend on, beside the script and the modules in its folder.
    """
    check_backend(backend, tuple(_ARRAYS))
    if (predict is None) != (outputs == 0):
        raise HambenchError(f"outputs={outputs} {'without' if predict is None else 'with'} predict: give both, or none")
    dim, rows, outputs = whole(dim=dim, rows=rows, outputs=outputs)
    files = [files] if isinstance(files, (str, os.PathLike)) else files
    functions = _derivatives(backend, potential)
    if gradient is not None:  # perhaps as the potential has no derivatives: none is taken that nobody asked for
        functions.pop("product", None)
    for key, function in (("gradient", gradient), ("product", product), ("predict", predict)):
        if function is not None:
            functions[key] = _compiled(function) if backend == "jax" else function
    if "gradient" not in functions:
        raise HambenchError(f"backend {backend!r} derives no gradient: give gradient=, or take backend='jax' or 'torch'")
    return Model(name or str(getattr(potential, "__name__", "model")), dim, rows, outputs, backend, [str(pathlib.Path(f).resolve()) for f in files], functions)


def _compiled(function: Function) -> Function:
    import jax

    compiled: Function = jax.jit(function)
    return compiled


class OnData:
    """A model on the program's data: ``build(data)`` makes it when the data come."""

    def __init__(self, build: Callable[[Mapping[str, Any]], Model]) -> None:
        self.name = str(getattr(build, "__name__", "build"))
        self._build = build
        self._data: Any = None
        self._model: Model | None = None

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Answers a question of the protocol."""
        if question["op"] == "hello":
            if "data" not in question:
                raise HambenchError(f"{self.name} is a function, taken for one that makes a model of data: wrap a step first: hambench.sampler({self.name}, …)")
            check_protocol(question, model=True)
            if not question["data"]:
                raise HambenchError("this model wants data: name a data set (--dataset)")
            if self._model is None or question["data"] != self._data:  # each chain says hello
                with blame(self.name):
                    made = self._build(question["data"])
                if not isinstance(made, Model):
                    raise HambenchError(f"{self.name} returned {type(made).__name__}: return hambench.model(…)")
                self._data, self._model = question["data"], made
        if self._model is None:
            raise HambenchError(f"{question['op']} before hello")
        return self._model.answer(question)


def serve(answers: Sampler | Model | Callable[[Mapping[str, Any]], Model]) -> None:
    """Answers the program on standard input and output: the last line of a script for ``certify --exec`` or ``--model exec:``.

    answers: a sampler, a model, or a function that makes a model of the program's data, a dict with "train_x", "train_y",
        "test_x" (lists, standardised), "task", "classes", "noise_variance", "name" and "split".
    What the step or the model prints goes to standard error meanwhile, also of libraries in C and of other programs; standard input is empty to them.
    """
    served = answers if isinstance(answers, (Sampler, Model)) else OnData(answers)
    if sys.stdin.isatty():
        print("hambench: waiting for questions, one of JSON a line: hambench certify --exec or sample --model 'exec:…' runs this script and asks them", file=sys.stderr)
    sys.stdout.flush()
    # The program's pipes get other numbers, so that 0 and 1 are not theirs.
    with open(os.dup(0), encoding="utf-8") as questions, open(os.dup(1), "w", encoding="utf-8", newline="\n") as out, open(os.devnull) as empty:
        os.dup2(empty.fileno(), 0)
        os.dup2(2, 1)
        try:
            with contextlib.redirect_stdout(sys.stderr):
                converse(served, questions, out, [])
        finally:
            sys.stdout.flush()
            os.dup2(questions.fileno(), 0)
            os.dup2(out.fileno(), 1)
