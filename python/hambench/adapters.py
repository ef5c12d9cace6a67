"""Published kernels of blackjax, devinterp, posteriors and SGMCMCJax as samplers, unchanged.

A kernel draws its own normals. While it runs, the function that it draws them with is replaced by one that
hands out the program's: each key, or each call where there are no keys, gets the next vector, and a key that is
used twice gets the same one twice, as it does in the library. All points are taken in one call, as the rows of
the parameters' array; the potential is the sum over them.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import hambench
from hambench._sampler import Sampler

Normals = Sequence[Any]


class _Replay:
    """Vectors of normals, handed out to keys in the order in which these are first used."""

    def __init__(self, normals: Normals) -> None:
        self._normals, self._slots = normals, dict[Any, int]()

    def draw(self, key: Any = None) -> Any:
        slot = self._slots.setdefault(len(self._slots) if key is None else key, len(self._slots))
        if slot >= len(self._normals):
            raise hambench.HambenchError(f"the kernel draws more than {len(self._normals)} vectors of normals: raise normals=")
        return self._normals[slot]


@contextlib.contextmanager
def _jax(normals: Normals) -> Iterator[None]:
    """Has jax.random.normal replay normals, without compilation. It is replaced in the whole process: other threads must not draw meanwhile."""
    import jax

    replay = _Replay(normals)

    def normal(key: Any, shape: Sequence[int] = (), dtype: Any = None) -> Any:
        return jax.numpy.asarray(replay.draw(bytes(jax.random.key_data(key)))).reshape(shape)

    def choice(key: Any, a: Any, shape: Sequence[int] = (), **_: Any) -> Any:
        taken.append(len(taken) % len(a))  # batches come in the order of the forces
        return jax.numpy.full(shape, taken[-1])

    taken: list[int] = []

    def gaussian(key: Any, position: Any) -> Any:
        return jax.numpy.asarray(replay.draw(bytes(jax.random.key_data(key)))).reshape(position.shape)

    places = [(jax.random, "normal", normal), (jax.random, "choice", choice)]
    for name in ("blackjax.sgmcmc.diffusions", "blackjax.sgmcmc.sghmc"):
        if name in sys.modules:  # its own function for the noise does not run uncompiled
            places.append((sys.modules[name], "generate_gaussian_noise", gaussian))
    before = [getattr(m, name) for m, name, _ in places]
    try:
        for m, name, ours in places:
            setattr(m, name, ours)
        with jax.disable_jit():
            yield
    finally:
        for (m, name, _), old in zip(places, before):
            setattr(m, name, old)


def _wrap(step: Callable[..., Any], name: str, **settings: Any) -> Sampler:
    return hambench.sampler(step, name=name, backend="numpy", batched=True, **settings)


def _numpy(x: Any) -> Any:
    import numpy as np

    return np.asarray(x, dtype=float)


def _one(normal: Any) -> Normals:
    return normal if isinstance(normal, tuple) else (normal,)


# blackjax


def blackjax_sgld() -> Sampler:
    """blackjax.sgld."""
    import blackjax
    import jax

    def step(theta: Any, r: Any, grad: Any, normal: Any, h: float, friction: float) -> Any:
        kernel = blackjax.sgld(lambda position, force: -force(position)).step
        with _jax(_one(normal)):
            return _numpy(kernel(jax.random.key(0), jax.numpy.asarray(theta), grad, h))

    return _wrap(step, "blackjax.sgld", state=1)


def blackjax_sghmc(num_integration_steps: int = 10) -> Sampler:
    """blackjax.sghmc with alpha = friction: the momentum is drawn anew in every step of the chain, all inner steps take one batch."""
    import blackjax
    import jax

    def step(theta: Any, r: Any, grad: Any, normal: Any, h: float, friction: float) -> Any:
        kernel = blackjax.sghmc(lambda position, force: -force(position), num_integration_steps, alpha=friction).step
        with _jax(_one(normal)):
            return _numpy(kernel(jax.random.key(0), jax.numpy.asarray(theta), grad, h))

    return _wrap(step, f"blackjax.sghmc L={num_integration_steps}", state=1, normals=1 + num_integration_steps, gradients=num_integration_steps)


# devinterp


def _devinterp(build: Callable[..., Any], name: str, squares: bool = False) -> Sampler:
    """SGMCMC with lr = 2h, since its drift is (lr/2)∇U. squares: with the running mean of squares of its RMSProp."""
    import torch

    SGMCMC = importlib.import_module("devinterp.optim.sgmcmc").SGMCMC

    def step(theta: Any, r: Any, *rest: Any) -> Any:
        grad, normal, h, _ = rest[-4:]
        replay = _Replay(_one(normal))
        parameters = torch.nn.Parameter(torch.tensor(theta))
        parameters.grad = torch.as_tensor(grad(theta))
        before = torch.normal, torch.randn_like
        torch.normal = lambda mean, std, size, **_: mean + std * torch.as_tensor(replay.draw()).reshape(size)
        torch.randn_like = lambda x, **_: torch.zeros_like(x)  # the start of a momentum that sgnht does not use
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # nbeta is 1, since the gradient is that of the potential
                optimizer = build(SGMCMC)([parameters], lr=2 * h)
            if squares:
                optimizer.state[parameters]["square_avg"] = torch.tensor(rest[0][0])
            optimizer.step()
        finally:
            torch.normal, torch.randn_like = before
        moved = parameters.detach().numpy()
        return (moved, r, (optimizer.state[parameters]["square_avg"].numpy(),)) if squares else moved

    return _wrap(step, name, **({"state": 3, **_SQUARES} if squares else {"state": 1}))


# A running mean of squares, beside the position alone.
_SQUARES = {"momentum": False, "auxiliary": [{"name": "v", "positive": True, "start": 1}]}


def devinterp_sgld() -> Sampler:
    """SGMCMC.sgld with lr = 2h."""
    return _devinterp(lambda cls: cls.sgld, "devinterp.sgld")


def devinterp_rmsprop_sgld(eps: float = 0.1, alpha: float = 0.99) -> Sampler:
    """SGMCMC.rmsprop_sgld with lr = 2h; eps and alpha are the library's defaults."""
    return _devinterp(lambda cls: functools.partial(cls.rmsprop_sgld, eps=eps, alpha=alpha), f"devinterp.rmsprop_sgld eps={eps:g}", True)


def devinterp_sgnht(diffusion_factor: float = 0.01) -> Sampler:
    """SGMCMC.sgnht with lr = 2h. Its step of the position reads neither the momentum nor the thermostat, which are left out."""
    return _devinterp(lambda cls: functools.partial(cls.sgnht, diffusion_factor=diffusion_factor), "devinterp.sgnht")


# posteriors


def _posteriors(build: Callable[..., Any], name: str, state: int, **settings: Any) -> Sampler:
    import torch

    def step(theta: Any, r: Any, grad: Any, normal: Any, h: float, friction: float) -> Any:
        gradient = torch.as_tensor(grad(theta))

        def log_posterior(parameters: Any, batch: Any) -> Any:
            # Its gradient is that of the potential at theta, where a step asks for it, and nowhere else.
            return -(parameters * gradient).sum(), torch.tensor(0)

        replay = _Replay(_one(normal))
        original, torch.randn_like = torch.randn_like, lambda x, **_: torch.as_tensor(replay.draw()).reshape(x.shape)
        precision = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)  # of constants that a kernel makes, such as baoa's friction
        try:
            transform = build(log_posterior, h, friction)
            parameters = torch.as_tensor(theta)
            begun = transform.init(parameters) if state == 1 else transform.init(parameters).replace(momenta=torch.as_tensor(r))
            ended, _ = transform.update(begun, None)
        finally:
            torch.randn_like = original
            torch.set_default_dtype(precision)
        return ended.params.numpy() if state == 1 else (ended.params.numpy(), ended.momenta.numpy())

    return _wrap(step, name, state=state, **settings)


def posteriors_sgld() -> Sampler:
    """posteriors.sgmcmc.sgld."""
    from posteriors.sgmcmc import sgld

    return _posteriors(lambda log, h, friction: sgld.build(log, h), "posteriors.sgld", 1)


def posteriors_sghmc() -> Sampler:
    """posteriors.sgmcmc.sghmc with alpha = friction."""
    from posteriors.sgmcmc import sghmc

    return _posteriors(lambda log, h, friction: sghmc.build(log, h, alpha=friction, momenta=0.0), "posteriors.sghmc", 2)


def posteriors_baoa() -> Sampler:
    """posteriors.sgmcmc.baoa with alpha = friction. Its page calls it equivalent to BAOAB for functions of the parameters."""
    from posteriors.sgmcmc import baoa

    return _posteriors(lambda log, h, friction: baoa.build(log, h, alpha=friction, momenta=0.0), "posteriors.baoa", 2, position=2)


def _alone(theta: Any, name: str) -> None:
    if theta.shape[-1] != 1:
        raise hambench.HambenchError(f"{name}: its thermostat is one for all coordinates: want a problem in one")


# A thermostat, as what it is above the friction that it starts from.
_THERMOSTAT = {"auxiliary": [{"name": "zeta", "start": 0, "deviation": 1}]}


def posteriors_sgnht() -> Sampler:
    """posteriors.sgmcmc.sgnht with alpha = friction, in one dimension: the mean over coordinates is taken point by point."""
    import torch
    from posteriors.sgmcmc import sgnht

    def step(theta: Any, r: Any, kept: Any, grad: Any, normal: Any, h: float, friction: float) -> Any:
        _alone(theta, "posteriors.sgnht")
        gradient, replay = torch.as_tensor(grad(theta)), _Replay(_one(normal))
        before = torch.randn_like, torch.mean
        torch.randn_like = lambda x, **_: torch.as_tensor(replay.draw()).reshape(x.shape)
        torch.mean = lambda x: x.reshape(theta.shape)
        try:
            transform = sgnht.build(lambda p, _: (-(p * gradient).sum(), torch.tensor(0)), h, alpha=friction, momenta=0.0)
            begun = transform.init(torch.as_tensor(theta)).replace(momenta=torch.as_tensor(r), xi=torch.as_tensor(kept[0] + friction))
            ended, _ = transform.update(begun, None)
        finally:
            torch.randn_like, torch.mean = before
        return ended.params.numpy(), ended.momenta.numpy(), (ended.xi.numpy() - friction,)

    return _wrap(step, "posteriors.sgnht", state=3, **_THERMOSTAT)


# SGMCMCJax


def _sgmcmcjax() -> Any:
    """The package's kernels. Its progress bar asks for a module that JAX has dropped; nothing else uses it."""
    missing = "jax.experimental.host_callback"
    if missing not in sys.modules:
        empty = types.ModuleType(missing)
        setattr(empty, "id_tap", None)
        sys.modules[missing] = empty
        setattr(importlib.import_module("jax.experimental"), "host_callback", empty)
    return importlib.import_module("sgmcmcjax.kernels")


def _likelihood(forces: Sequence[Any]) -> tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...], int]:
    """Log-likelihood, log-prior, data and batch size, by which a batch is one of the forces.

    The library makes a gradient of the mean over a batch, times the number of rows.
    """
    import jax
    import jax.numpy as jnp

    def one(theta: Any, which: Any) -> Any:
        # Nothing is compiled: which is a number, one for all rows of the batch. The library takes one gradient of a batch a step, kept for
        # the next; here it is taken again where a step begins, and of every batch: none of them counts beside the one that is stated.
        value = jax.lax.stop_gradient(theta)
        gradients = jnp.stack([f.uncounted(value) for f in forces])
        return -(theta * gradients[which]).sum() / len(forces)

    return one, lambda theta: 0.0, (jnp.arange(len(forces)),), 1


def sgmcmcjax_sgld() -> Sampler:
    """build_sgld_kernel. It keeps the gradient of the position at which a step ends, for the next; here that is taken at the beginning."""
    kernels = _sgmcmcjax()
    import jax

    def step(theta: Any, r: Any, grad: Any, normal: Any, h: float, friction: float) -> Any:
        with _jax(_one(normal)):
            init, kernel, parameters = kernels.build_sgld_kernel(h, *_likelihood([grad]))
            begun = init(jax.random.key(1), jax.numpy.asarray(theta))
            return _numpy(parameters(kernel(0, jax.random.key(0), begun)))

    return _wrap(step, "sgmcmcjax.sgld", state=1)


def sgmcmcjax_sghmc(inner: int = 2) -> Sampler:
    """build_sghmc_kernel with L = inner, dt = h² and alpha = h·friction, as its velocities are momenta times h; a batch an inner step."""
    kernels = _sgmcmcjax()
    import jax

    def step(theta: Any, r: Any, grad: Any, normal: Any, h: float, friction: float) -> Any:
        with _jax(normal):
            forces = grad if isinstance(grad, tuple) else (grad,)
            init, kernel, parameters = kernels.build_sghmc_kernel(h * h, inner, *_likelihood(forces), alpha=h * friction, compiled_leapfrog=False)
            begun = init(jax.random.key(1), jax.numpy.asarray(theta))
            return _numpy(parameters(kernel(0, jax.random.key(0), begun)))

    return _wrap(step, f"sgmcmcjax.sghmc L={inner}", state=1, normals=1 + inner, batches=inner)


def sgmcmcjax_baoab(diffusion: bool = False) -> Sampler:
    """build_baoab_kernel, with the gradient that it keeps from step to step as an auxiliary variable.

    diffusion: not the kernel, but the library's own diffusion ``baoab`` with both of its updates in their places.
    """
    kernels = _sgmcmcjax()
    import jax

    def step(theta: Any, r: Any, kept: Any, grad: Any, normal: Any, h: float, friction: float) -> Any:
        j = jax.numpy.asarray
        with _jax(_one(normal)):
            likelihood = _likelihood([grad])
            init, kernel, _ = kernels.build_baoab_kernel(h, *likelihood, friction)
            if diffusion:
                gradient = kernels.build_grad_log_post(*likelihood[:3])
                first, update, read = kernels.baoab(h, friction)
                init, kernel, _ = kernels._build_langevin_kernel(first, update, read, *kernels.build_gradient_estimation_fn(gradient, *likelihood[2:]))
            begun = init(jax.random.key(1), j(theta))
            packed = begun.diffusion_state._replace(packed_state=[[j(theta), j(r)]])
            ended = kernel(0, jax.random.key(0), begun._replace(diffusion_state=packed, param_grad=-j(kept[0])))
            x, v = ended.diffusion_state.packed_state[0]
            return _numpy(x), _numpy(v), (-_numpy(ended.param_grad),)

    return _wrap(step, "sgmcmcjax.baoab" + (" (diffusion)" if diffusion else ""), state=3, position=2, joint=2)


@contextlib.contextmanager
def _one_draw(xi: Any) -> Iterator[None]:
    """Has jax.random.normal give xi, while a step that draws once is compiled."""
    import jax

    before = jax.random.normal, jax.random.choice
    setattr(jax.random, "normal", lambda key, shape=(), dtype=None: xi.reshape(shape))
    setattr(jax.random, "choice", lambda key, a, shape=(), **_: jax.numpy.zeros(shape, dtype=int))
    try:
        yield
    finally:
        jax.random.normal, jax.random.choice = before


def _diffused(parts: Any, number: int, xi: Any, *vectors: Any) -> Any:
    """The state of a diffusion after one kernel, from a state with these vectors; number is that of the step."""
    import jax

    with _one_draw(xi):
        init, kernel, _ = parts
        begun = init(jax.random.key(1), vectors[0])
        packed = begun.diffusion_state._replace(packed_state=[list(vectors)])
        return kernel(number, jax.random.key(0), begun._replace(diffusion_state=packed)).diffusion_state.packed_state[0]


def _compiled(step: Callable[..., Any], name: str, **settings: Any) -> Sampler:
    return hambench.sampler(step, name=name, backend="jax", **settings)


def sgmcmcjax_psgld() -> Sampler:
    """build_psgld_kernel with dt = 2h, since its drift is (dt/2)∇U."""
    kernels = _sgmcmcjax()

    def step(theta: Any, r: Any, kept: Any, grad: Any, normal: Any, h: Any, friction: Any) -> Any:
        x, v = _diffused(kernels.build_psgld_kernel(_constant(2 * h), *_likelihood([grad])), 0, normal, theta, kept[0])
        return x, r, (v,)

    return _compiled(step, "sgmcmcjax.psgld", state=3, **_SQUARES)


def _constant(step: Any) -> Callable[[int], Any]:
    return lambda i: step


# The number of a step at which the corrections of sgldAdam for its start are 1.
_LATE = 10**6


def sgmcmcjax_sgldadam() -> Sampler:
    """build_sgldAdam_kernel with dt = 2h, long after its start."""
    kernels = _sgmcmcjax()

    def step(theta: Any, r: Any, kept: Any, grad: Any, normal: Any, h: Any, friction: Any) -> Any:
        parts = kernels.build_sgldAdam_kernel(_constant(2 * h), *_likelihood([grad]))
        x, m, v = _diffused(parts, _LATE, normal, theta, *kept)
        return x, r, (m, v)

    return _compiled(step, "sgmcmcjax.sgldAdam", state=4, momentum=False, auxiliary=[{"name": "m"}, {"name": "v", "positive": True, "start": 1}])


def sgmcmcjax_sgnht() -> Sampler:
    """build_sgnht_kernel with dt = h² and a = h·friction, as its velocities are momenta times h; in one dimension."""
    kernels = _sgmcmcjax()

    def step(theta: Any, r: Any, kept: Any, grad: Any, normal: Any, h: Any, friction: Any) -> Any:
        _alone(theta, "sgmcmcjax.sgnht")
        parts = kernels.build_sgnht_kernel(_constant(h * h), *_likelihood([grad]), a=h * friction)
        x, v, alpha = _diffused(parts, 1, normal, theta, h * r, h * (kept[0][0] + friction))
        return x, v / h, ((alpha / h - friction).reshape(1),)

    return _compiled(step, "sgmcmcjax.sgnht", state=3, **_THERMOSTAT)


def sgmcmcjax_badodab() -> Sampler:
    """build_badodab_kernel, in one dimension; the gradient is taken anew at the start of a step, as with the full batch it is."""
    kernels = _sgmcmcjax()

    def step(theta: Any, r: Any, kept: Any, grad: Any, normal: Any, h: Any, friction: Any) -> Any:
        _alone(theta, "sgmcmcjax.badodab")
        parts = kernels.build_badodab_kernel(_constant(h), *_likelihood([grad]))
        x, v, alpha = _diffused(parts, 1, normal, theta, r, kept[0][0])
        return x, v, (alpha.reshape(1),)

    return _compiled(step, "sgmcmcjax.badodab", state=3, position=2, joint=2, auxiliary=[{"name": "alpha", "start": 0.5}])
