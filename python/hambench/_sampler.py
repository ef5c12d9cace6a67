"""Samplers: a step in Python, and how the program asks for many of them at once."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import json
import math
import numbers
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, Literal, Protocol

from hambench._program import HambenchError

Backend = Literal["python", "numpy", "jax", "torch"]
PROTOCOL = 1


def check_protocol(question: Mapping[str, Any], *, model: bool) -> None:
    """Refuses a greeting in another version, or to the other kind of partner."""
    if question.get("version") != PROTOCOL:
        raise HambenchError(f"protocol {question.get('version')}: this package speaks {PROTOCOL}; install the package of the same version as the program")
    if model and "data" not in question:
        raise HambenchError("this is a model, to be sampled (--model 'exec:…'): it has no step to certify")
    if not model and "data" in question:
        raise HambenchError("this is a sampler, to be certified (certify --exec): it has no gradients")


def check_backend(backend: str, known: Sequence[str]) -> None:
    """Refuses a backend that there is not, or whose library is not installed."""
    if backend not in known:
        raise HambenchError(f"backend {backend!r}: want one of {', '.join(known)}")
    if backend != "python" and importlib.util.find_spec(backend) is None:
        raise HambenchError(f"backend {backend!r}: {backend} is not installed; install it, or take backend='python', whose vectors are lists of floats")


def plain(value: Any) -> Any:
    """A number or boolean of numpy's, or of a library like it, as Python's; anything else as it is."""
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def whole(**settings: Any) -> tuple[int, ...]:
    """Settings as integers, which numpy's become; refused if one is no whole number."""
    for name, value in settings.items():
        if isinstance(plain(value), bool) or not hasattr(plain(value), "__index__"):
            raise HambenchError(f"{name}={value!r}: want a whole number")
    return tuple(operator.index(plain(value)) for value in settings.values())


def shape(x: Any) -> tuple[int, ...] | str:
    """The shape of an array or a list, or else what it is."""
    if hasattr(x, "shape"):
        return tuple(x.shape)
    if not isinstance(x, Sequence) or isinstance(x, str):
        return () if isinstance(x, numbers.Number) else type(x).__name__
    first = shape(x[0]) if len(x) else ()
    return (len(x), *first) if isinstance(first, tuple) else f"{type(x).__name__} of {first}"


def told(x: Any) -> str:
    """What errors say that a function returned."""
    found = shape(x)
    return found if isinstance(found, str) else f"the shape {found}"


def reals(x: Any, function: str) -> Any:
    """An array that a user's function returned, refused if its numbers are masked, complex or have fewer digits than float64."""
    if hasattr(x, "filled") and x.mask.any():  # numpy's masked array, which has numbers under the mask, too
        raise HambenchError(f"{function} returned masked elements: return a number for each")
    kind = str(getattr(x, "dtype", "float64")).removeprefix("torch.")
    if kind.startswith(("complex", "float16", "float32", "bfloat16")):
        why = "imaginary parts have no place here" if kind.startswith("complex") else "too coarse here"
        raise HambenchError(f"{function} returned {kind}, {why}: compute in float64")
    return x


def check_x64() -> None:
    """Refuses a JAX that computes in float32."""
    import jax

    if not jax.config.jax_enable_x64:
        raise HambenchError('jax computes in float32, too coarse here: call jax.config.update("jax_enable_x64", True) first')


class Force:
    """The gradient of the potential of a batch: ``force(theta)``, an array like theta.

    ``force.hvp(theta, v)`` is the Hessian's product with v. Theta may have leading dimensions.
    """

    def __init__(self, data: Mapping[str, Any], sin: Callable[[Any], Any], cos: Callable[[Any], Any]) -> None:
        self._data, self._sin, self._cos = data, sin, cos
        self.gradients = self.products = 0  # that a step has taken so far

    def __call__(self, theta: Any) -> Any:
        self._count("gradients", theta)
        return self.uncounted(theta)

    def hvp(self, theta: Any, v: Any) -> Any:
        self._count("products", theta, v)
        return self._product(theta, v)

    def _count(self, what: str, *_: Any) -> None:
        setattr(self, what, getattr(self, what) + 1)

    def uncounted(self, theta: Any) -> Any:
        """The gradient, for adapters of libraries that take it more often here than in a chain of theirs."""
        d = self._data
        if "precision" in d:
            return theta @ d["precision"] - d["shift"]
        total = 0.0 * theta
        for weight, stiffness, center, amplitude, frequency, phase in d["terms"]:
            total = total + weight * (stiffness * (theta - center) - amplitude * frequency * self._sin(frequency * theta + phase))
        return total

    def _product(self, theta: Any, v: Any) -> Any:
        d = self._data
        if "precision" in d:
            return v @ d["precision"]
        total = 0.0 * v
        for weight, stiffness, _, amplitude, frequency, phase in d["terms"]:
            total = total + weight * (stiffness - amplitude * frequency**2 * self._cos(frequency * theta + phase)) * v
        return total


class _ListForce(Force):
    """The same on lists of floats."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data, math.sin, math.cos)

    def uncounted(self, theta: Any) -> Any:
        d = self._data
        if "precision" in d:
            return [sum(p * x for p, x in zip(row, theta)) - s for row, s in zip(d["precision"], d["shift"])]
        return [super(_ListForce, self).uncounted(x) for x in theta]

    def _product(self, theta: Any, v: Any) -> Any:
        d = self._data
        if "precision" in d:
            return [sum(p * x for p, x in zip(row, v)) for row in d["precision"]]
        return [super(_ListForce, self)._product(x, y) for x, y in zip(theta, v)]


@dataclasses.dataclass(frozen=True)
class Sampler:
    """A step with what the program has to know of it; made by :func:`sampler`."""

    step: Callable[..., Any]
    name: str
    state: int
    normals: int
    batches: int
    hessian: bool
    claims: Mapping[str, float]
    backend: Backend
    batched: bool
    momentum: bool = True
    auxiliary: Sequence[Mapping[str, Any]] = ()
    gradients: int = 1
    _compiled: dict[Any, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Answers a question of the protocol (docs/samplers.md)."""
        if question["op"] == "hello":
            check_protocol(question, model=False)
            return {
                "version": PROTOCOL,
                "name": self.name,
                "state": self.state,
                "normals": self.normals,
                "batches": self.batches,
                "gradients": self.gradients,
                "hessian": self.hessian,
                "claims": dict(self.claims),
                "momentum": self.momentum,
                "auxiliary": [dict(v) for v in self.auxiliary],
            }
        if question["op"] != "step":
            raise HambenchError(f"unknown question {question['op']}")
        with blame("step"):
            return {"states": self._steps(question)}

    def _one(self, vectors: Sequence[Any], forces: Sequence[Force], normals: Sequence[Any], h: Any, friction: Any) -> list[Any]:
        """Calls the user's step and returns the vectors of the new state, if it took no more of the forces than it says."""
        for f in forces:
            f.gradients = f.products = 0
        out = self._called(vectors, forces, normals, h, friction)
        self._check_cost([(f.gradients, f.products) for f in forces])
        return out

    def _check_cost(self, cost: Sequence[tuple[int, int]]) -> None:
        """Refuses a step that took more gradients and products of a batch than it says."""
        if not self.hessian and any(products for _, products in cost):
            raise HambenchError("step takes Hessian-vector products: say hessian=True")
        taken = max(gradients + 2 * max(0, products - 1) for gradients, products in cost)  # of products a stated one is no gradient, each other one costs two
        if taken > self.gradients:
            raise HambenchError(f"step takes {taken} gradients of a batch: say gradients={taken}, by which --budget counts what it costs")

    def _called(self, vectors: Sequence[Any], forces: Sequence[Force], normals: Sequence[Any], h: Any, friction: Any) -> list[Any]:
        force: Any = forces[0] if self.batches == 1 else tuple(forces)
        normal: Any = normals[0] if self.normals == 1 else tuple(normals)
        names = ["theta", "r", *(f"auxiliary[{i}]" for i in range(self.state - 2))][: self.state]
        if self.state == 1:
            out: Any = (self.step(vectors[0], None, force, normal, h, friction),)
        elif self.state == 2:
            out = self.step(vectors[0], vectors[1], force, normal, h, friction)
        else:
            out = self.step(vectors[0], vectors[1], tuple(vectors[2:]), force, normal, h, friction)
        if not isinstance(out, tuple) or len(out) != min(self.state, 3):
            wanted = "(theta, r)" if self.state == 2 else "(theta, r, auxiliary)"
            raise HambenchError(f"step returned {type(out).__name__}: return the tuple {wanted}, as state={self.state} says")
        if self.state > 2:
            if not isinstance(out[2], (tuple, list)) or len(out[2]) != self.state - 2:
                raise HambenchError(f"step returned {type(out[2]).__name__} as auxiliary: return a tuple of {self.state - 2}, as state={self.state} says")
            out = (*out[:2], *out[2])
        if self.state > 1 and not self.momentum:  # what comes back for r is not read
            out = (out[0], vectors[1], *out[2:])
        for name, x, given in zip(names, out, vectors):
            if shape(x) != shape(given):
                if isinstance(x, tuple) and self.state == 1:
                    raise HambenchError("step returned a tuple: with state=1 return theta alone")
                raise HambenchError(f"step returned {told(x)} as {name}: return the shape {shape(given)} that it had")
        return [reals(x, "step") for x in out]

    def _steps(self, question: Mapping[str, Any]) -> list[Any]:
        h, friction = question["h"], question["friction"]
        states, normals = question["states"], question["normals"]
        forces = [{"terms": [[t[k] for k in _TERM] for t in f["terms"]]} if "terms" in f else f for f in question["forces"]]
        if self.backend == "python":
            listed = [_ListForce(f) for f in forces]
            return [[list(map(float, v)) for v in self._one(z, listed, xi, h, friction)] for z, xi in zip(states, normals)]
        return _BACKENDS[self.backend](self, forces, states, normals, h, friction)

    def __call__(self, **changes: Any) -> Sampler:
        """The same sampler with other settings of :func:`sampler`, such as ``sampler(name="…")``."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in ("claims", "_compiled")}
        return sampler(**{**fields, **self.claims, **changes})


_TERM = ("weight", "stiffness", "center", "amplitude", "frequency", "phase")


def _numpy(s: Sampler, forces: Any, states: Any, normals: Any, h: float, friction: float) -> list[Any]:
    import numpy as np

    made = [Force({k: np.asarray(v, dtype=float) for k, v in f.items()}, np.sin, np.cos) for f in forces]
    if s.batched:
        z = np.moveaxis(np.asarray(states, dtype=float), 1, 0)
        xi: Any = np.moveaxis(np.asarray(normals, dtype=float), 1, 0) if s.normals else []
        out = s._one(list(z), made, list(xi), h, friction)
        stacked: list[Any] = np.moveaxis(np.asarray(out), 0, 1).tolist()
        return stacked
    new = []
    for z, xi in zip(states, normals):
        out = s._one([np.asarray(v, dtype=float) for v in z], made, [np.asarray(v, dtype=float) for v in xi], h, friction)
        new.append([np.asarray(v).tolist() for v in out])
    return new


def _padded(points: Sequence[Any]) -> list[Any]:
    """The points and repeats of the last, so that few lengths occur: a length is compiled once."""
    length = 64
    while length < len(points):
        length *= 4
    return [*points, *([points[-1]] * (length - len(points)))]


def _compile(s: Sampler) -> tuple[Callable[..., None], list[tuple[int, str]], Callable[..., Any]]:
    """The step at one point, what of which batch ran there, and the step mapped over points."""
    import jax
    import jax.numpy as jnp

    ran: list[tuple[int, str]] = []

    class Counted(Force):
        """Counts what runs: tracing sees the body of a loop once, every branch of a condition, and not over how many a vmap is."""

        def __init__(self, i: int, data: Mapping[str, Any]) -> None:
            super().__init__(data, jnp.sin, jnp.cos)
            self._i = i

        def _count(self, what: str, *at: Any) -> None:
            jax.debug.callback(lambda *_: ran.append((self._i, what)), *at)

    def count(data: Any, z: Any, xi: Any, h: Any, friction: Any) -> None:
        s._called(list(z), [Counted(i, f) for i, f in enumerate(data)], list(xi), h, friction)

    def steps(data: Any, z: Any, xi: Any, h: Any, friction: Any) -> Any:
        made = [Force(f, jnp.sin, jnp.cos) for f in data]

        def one(vectors: Any, given: Any) -> Any:
            return jnp.stack(s._called(list(vectors), made, list(given), h, friction))

        return jax.vmap(one)(z, xi)

    return jax.jit(count), ran, jax.jit(steps)


def _jax(s: Sampler, forces: Any, states: Any, normals: Any, h: float, friction: float) -> list[Any]:
    import jax
    import jax.numpy as jnp

    check_x64()
    if "jax" not in s._compiled:
        s._compiled["jax"] = _compile(s)
    count, ran, steps = s._compiled["jax"]
    data = [{k: jnp.asarray(v, dtype=float) for k, v in f.items()} for f in forces]
    z, xi = jnp.asarray(_padded(states), dtype=float), jnp.asarray(_padded(normals), dtype=float)
    ran.clear()
    count(data, z[0], xi[0], h, friction)  # at one point, as a map over points runs every branch
    barrier: Any = jax.effects_barrier  # it has no types
    barrier()
    s._check_cost([(ran.count((i, "gradients")), ran.count((i, "products"))) for i in range(len(data))])
    out: list[Any] = steps(data, z, xi, h, friction)[: len(states)].tolist()
    return out


def _torch(s: Sampler, forces: Any, states: Any, normals: Any, h: float, friction: float) -> list[Any]:
    import torch

    def tensor(x: Any) -> Any:
        return torch.as_tensor(x, dtype=torch.float64)

    made = [Force({k: tensor(v) for k, v in f.items()}, torch.sin, torch.cos) for f in forces]

    def one(vectors: Any, given: Any) -> Any:
        return torch.stack(s._one(list(vectors), made, list(given), h, friction))

    out: list[Any] = torch.func.vmap(one)(tensor(states), tensor(normals)).tolist()
    return out


_BACKENDS: dict[str, Callable[..., list[Any]]] = {"numpy": _numpy, "jax": _jax, "torch": _torch}


def sampler(
    step: Callable[..., Any],
    *,
    name: str | None = None,
    position: float = 1,
    joint: float = 1,
    state: int = 2,
    normals: int = 1,
    batches: int = 1,
    gradients: int = 1,
    hessian: bool = False,
    backend: Backend = "numpy",
    batched: bool = False,
    momentum: bool = True,
    auxiliary: Sequence[Mapping[str, Any]] = (),
) -> Sampler:
    """Wraps a step ``step(theta, r, grad, normal, h, friction) -> (theta, r)``.

    theta, r and normal are vectors of length d; grad is a :class:`Force`. It must draw no numbers of its own and
    change none of its arguments.

    position, joint: the orders that are claimed of the stationary law of theta, and of theta and r.
    state: vectors of the state. 1: theta alone, r is None and the step returns theta. 3 or more:
        ``step(theta, r, auxiliary, …) -> (theta, r, auxiliary)``, a tuple of vectors that start at 0.
    normals: normal vectors a step; ``normal`` is a tuple of them unless it is 1.
    batches: batches a step (N_l); ``grad`` is a tuple of forces unless it is 1.
    gradients: gradients that a step takes of each of its batches, at most: what ``--budget`` counts as its cost.
    hessian: whether it takes a Hessian-vector product, ``grad.hvp(theta, v)``, which counts as two gradients more.
    backend: "numpy", "jax" (the step is compiled and mapped over points), "torch" (mapped over points), or "python" (lists).
    batched: with numpy, the step takes arrays of shape (points, d): many times as fast.
    momentum: False if there is none although state is 3 or more: r is 0 and what the step returns for it is not read.
    auxiliary: what is known of the law of each auxiliary vector, for scalar problems: ``{"name": "v", "positive": True,
        "start": 1}`` of one that is never negative, ``{"name": "zeta", "start": 0, "deviation": 1}`` of one that is normal,
        ``{"name": "m"}`` of any other. At most two, of which the law is found if it is not normal.
    """
    check_backend(backend, ("python", *_BACKENDS))
    if batched and backend != "numpy":
        raise HambenchError(f"batched=True with backend {backend!r}: leave it out, or take backend='numpy'")
    state, normals, batches, gradients = whole(state=state, normals=normals, batches=batches, gradients=gradients)
    claims = {"position": position} if state == 1 or not momentum else {"position": position, "joint": joint}
    for of, order in claims.items():
        if not isinstance(plain(order), numbers.Real) or not math.isfinite(order):
            raise HambenchError(f"{of}={order!r}: want a finite order")
    if isinstance(auxiliary, str) or not all(isinstance(each, Mapping) for each in auxiliary):
        raise HambenchError(f"auxiliary={auxiliary!r}: want a list of dicts, such as [{{'name': 'v'}}]")
    claims = {of: float(order) for of, order in claims.items()}
    known = tuple({k: plain(v) for k, v in each.items()} for each in auxiliary)
    name = name or str(getattr(step, "__name__", "sampler"))
    return Sampler(step, name, state, normals, batches, bool(hessian), claims, backend, batched, bool(momentum), known, gradients)


class Answers(Protocol):
    """What answers questions: a sampler, or a model."""

    @property
    def name(self) -> str:
        """What errors call it."""

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Answers a question of the protocol (docs/samplers.md); raises a HambenchError where there is no answer."""


@contextlib.contextmanager
def blame(function: str) -> Iterator[None]:
    """Turns what a user's function raises, sys.exit included, into a HambenchError that names the function; its cause is the exception."""
    try:
        yield
    except HambenchError:
        raise
    except BaseException as error:
        raise HambenchError(f"{function} raised {type(error).__name__}: {error}") from error


def _question(line: str) -> dict[str, Any]:
    try:
        question = json.loads(line)
    except ValueError:
        question = None
    if not isinstance(question, dict) or "op" not in question:
        said = line.strip()
        raise HambenchError(f"no question in JSON: {said[:100]!r}: hambench asks them, by certify --exec or sample --model 'exec:…'")
    return question


def converse(s: Answers, questions: IO[str], answers: IO[str], failures: list[HambenchError]) -> None:
    """Answers line by line until there are no more questions; keeps the errors of those that have no answer."""
    for line in questions:
        try:
            question = _question(line)
            if question["op"] == "bye":
                return
            with blame(question["op"]):
                text = json.dumps(s.answer(question))
        except HambenchError as error:
            failures.append(error)
            text = json.dumps({"error": str(error)})
        answers.write(text + "\n")
        answers.flush()
