"""JAX: a compiled loop over many steps, of one chain and of sixteen, and
blackjax's SGHMC on the same network. run.py sets the XLA flags."""

import math
from collections.abc import Callable
from functools import partial

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from problem import Array as HostArray
from problem import Problem, orders

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_threefry_partitionable", False)  # fewer hashes, on one device only

Layers = list[tuple[Array, Array]]  # weights [inputs, outputs] and biases

SERIES = {8: 100, 32: 100, 128: 80, 455: 40}
CHAINS = 16


def split(problem: Problem, flat: Array) -> Layers:
    """The layers in a flat vector."""
    layers = []
    for at, m, n in problem.layers():
        bias = at + m * n
        layers.append((flat[at:bias].reshape(m, n), flat[bias : bias + n]))
    return layers


def join(layers: Layers) -> HostArray:
    return np.concatenate([np.ravel(a) for a in jax.tree.leaves(layers)])


def outputs(layers: Layers, x: Array) -> Array:
    for i, (w, b) in enumerate(layers):
        x = (jax.nn.relu(x) if i else x) @ w * (1 / math.sqrt(len(w))) + b
    return x[..., 0]


def normals(key: Array, like: Layers) -> Layers:
    """Drawn array by array: to cut them from one vector costs copies."""
    leaves, tree = jax.tree.flatten(like)
    keys = jax.random.split(key, len(leaves))
    return tree.unflatten(jax.random.normal(k, a.shape) for k, a in zip(keys, leaves))


class Scan:
    """The leapfrog step in a compiled loop; several chains by vmap."""

    def __init__(self, problem: Problem, size: int, prng: str, chains: int = 1):
        self.problem = problem
        self.key = jax.random.key(1, impl=prng)
        x, y = problem.batches(size)
        self.x, self.y = jnp.array(x), jnp.array(y)
        self.factor = 0.5 * len(x) / problem.noise_variance
        self.chains = chains
        self.steps = SERIES[size] if chains == 1 else SERIES[size] // 4
        self.start(orders(len(x), self.steps, chains).astype(np.int32))

    def start(self, order: HostArray) -> None:
        theta = split(self.problem, jnp.array(self.problem.theta))
        r = jax.tree.map(jnp.zeros_like, theta)
        key, run = self.key, self.run
        if self.chains > 1:
            theta, r = jax.tree.map(lambda a: jnp.repeat(a[None], self.chains, 0), (theta, r))
            key = jax.random.split(key, self.chains)
            run = jax.vmap(run)
        else:
            order = order[0]
        self.order = jnp.array(order)
        self.state = theta, r, key
        self.compiled = jax.jit(lambda state, order: run(*state, order), donate_argnums=0)

    def potential(self, layers: Layers, x: Array, y: Array) -> Array:
        """The data's part; its scale K is in the factor."""
        return self.factor * jnp.sum((outputs(layers, x) - y) ** 2)

    def force(self, theta: Layers, x: Array, y: Array) -> Layers:
        return jax.tree.map(jnp.add, jax.grad(self.potential)(theta, x, y), theta)

    def step(self, theta: Layers, r: Layers, xi: Layers, k: Array) -> tuple[Layers, Layers]:
        h, c = self.problem.step, self.problem.friction
        s = math.sqrt(2 * c * h)
        each = jax.tree.map
        theta = each(lambda t, r: t + h / 2 * r, theta, r)
        g = self.force(theta, self.x[k], self.y[k])
        r = each(lambda r, g, n: (1 - h * c) * r - h * g + s * n, r, g, xi)
        return each(lambda t, r: t + h / 2 * r, theta, r), r

    def run(self, theta: Layers, r: Layers, key: Array, order: Array):
        def body(state, k):
            theta, r, key = state
            key, now = jax.random.split(key)
            return (*self.step(theta, r, normals(now, theta), k), key), None

        return lax.scan(body, (theta, r, key), order)[0]

    def series(self) -> None:
        self.state = jax.block_until_ready(self.compiled(self.state, self.order))

    def gradient(self) -> HostArray:
        theta = split(self.problem, jnp.array(self.problem.theta))
        return join(jax.jit(self.force)(theta, self.x[0], self.y[0])).astype(np.float64)

    def momentum(self) -> HostArray:
        return join(self.state[1])


class Blackjax:
    """blackjax.sghmc as published: Euler's step on one batch, LENGTH steps
    from a fresh momentum to the next. Its step costs what leapfrog's does:
    one gradient, one normal per parameter."""

    LENGTH = 10
    chains = 1

    def __init__(self, problem: Problem, size: int, prng: str):
        self.problem = problem
        x, y = problem.batches(size)
        self.x, self.y = jnp.array(x), jnp.array(y)
        self.estimate = blackjax.sgmcmc.gradients.grad_estimator(
            self.log_prior, self.log_likelihood, data_size=x.shape[0] * x.shape[1]
        )
        self.kernel = blackjax.sghmc(self.estimate, self.LENGTH, alpha=problem.friction)
        self.steps = SERIES[size]
        self.order = jnp.array(orders(len(x), self.steps // self.LENGTH)[0])
        self.state = split(problem, jnp.array(problem.theta)), jax.random.key(1, impl=prng)
        self.compiled = jax.jit(self.run, donate_argnums=0)

    def log_prior(self, layers: Layers) -> Array:
        return -0.5 * sum(jnp.sum(a**2) for a in jax.tree.leaves(layers))

    def log_likelihood(self, layers: Layers, row: tuple[Array, Array]) -> Array:
        x, y = row
        return -0.5 / self.problem.noise_variance * (outputs(layers, x) - y) ** 2

    def run(self, state, order: Array):
        def body(state, k):
            theta, key = state
            key, now = jax.random.split(key)
            batch = self.x[k], self.y[k]
            return (self.kernel.step(now, theta, batch, self.problem.step), key), None

        return lax.scan(body, state, order)[0]

    def series(self) -> None:
        self.state = jax.block_until_ready(self.compiled(self.state, self.order))

    def gradient(self) -> HostArray:
        theta = split(self.problem, jnp.array(self.problem.theta))
        g = jax.jit(self.estimate)(theta, (self.x[0], self.y[0]))
        return -join(g).astype(np.float64)  # it ascends the log-density

    def momentum(self) -> None:
        return None


THREEFRY, RBG = "threefry2x32", "rbg"  # JAX's default, and XLA's own generator

PEERS: dict[str, Callable] = {
    "jax-scan": partial(Scan, prng=THREEFRY),
    "jax-scan-rbg": partial(Scan, prng=RBG),
    "jax-vmap": partial(Scan, prng=THREEFRY, chains=CHAINS),
    "jax-vmap-rbg": partial(Scan, prng=RBG, chains=CHAINS),
    "jax-blackjax": partial(Blackjax, prng=THREEFRY),
    "jax-blackjax-rbg": partial(Blackjax, prng=RBG),
}
