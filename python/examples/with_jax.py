"""BAOAB in JAX, certified: the step is compiled, and mapped over the points that the program asks for."""

import hambench
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # exact errors need float64


def baoab(theta, r, grad, normal, h, friction):
    r = r - h / 2 * grad(theta)
    theta = theta + h / 2 * r
    decay = jnp.exp(-friction * h)
    r = decay * r + jnp.sqrt(1 - decay**2) * normal
    theta = theta + h / 2 * r
    return theta, r - h / 2 * grad(theta)


sampler = hambench.sampler(baoab, position=2, joint=2, gradients=2, backend="jax")

if __name__ == "__main__":
    rows = hambench.certify(sampler, problem="gaussian", scheme=["full", "replacement"])
    print(rows)
    rows.assert_claims()
