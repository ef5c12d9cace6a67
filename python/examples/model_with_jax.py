"""A robust regression in JAX, with data of its own, as a model of the program: derivatives come from the potential."""

import hambench
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

x = jnp.linspace(-1, 1, 60)
y = 0.8 * x - 0.3 + 0.2 * jnp.sin(7 * x) + 2.0 * (jnp.arange(60) % 13 == 5)  # with outliers


def robust(theta, rows, scale):
    slope, intercept, log_width = theta
    z = (y[rows] - slope * x[rows] - intercept) / jnp.exp(log_width)
    likelihood = jnp.sum(2.5 * jnp.log1p(z**2 / 4) + log_width)  # Student's t with 4 degrees of freedom
    return scale * likelihood + jnp.sum(theta**2) / 2


model = hambench.model(robust, dim=3, rows=len(x), backend="jax")

if __name__ == "__main__":
    hambench.serve(model)
