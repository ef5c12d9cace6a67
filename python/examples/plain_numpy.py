"""A leapfrog in plain numpy, certified: exact orders, no Monte Carlo."""

import hambench
import numpy as np


def leapfrog(theta, r, grad, normal, h, friction):
    theta = theta + h / 2 * r
    r = r - h * grad(theta) - h * friction * r + np.sqrt(2 * friction * h) * normal
    return theta + h / 2 * r, r


sampler = hambench.sampler(leapfrog, position=2, joint=1, batched=True)

if __name__ == "__main__":
    rows = hambench.certify(sampler, problem="gaussian", scheme=["full", "reshuffle", "replacement"])
    print(rows)
    rows.assert_claims()
    assert rows.order("theta.cov", scheme="reshuffle") == 2  # the bottleneck of random orders
