"""SGLD in PyTorch, certified: without a momentum, the law of theta alone is judged."""

import hambench
import torch


def sgld(theta, r, grad, normal, h, friction):
    return theta - h * grad(theta) + (2 * h) ** 0.5 * normal


sampler = hambench.sampler(sgld, position=1, state=1, backend="torch")

if __name__ == "__main__":
    torch.set_num_threads(1)
    rows = hambench.certify(sampler, problem="gaussian", scheme=["full", "replacement"])
    print(rows)
    rows.assert_claims()
