"""Hamiltonian Monte Carlo in plain numpy on a problem that `hambench data export` wrote: the linear model, or a network for regression.

usage: numpy_hmc.py PROBLEM DRAWS.csv [--draws N] [--seed S] [--step H]

Nothing of hambench is used but its files: the formulas are those of problem.json. The draws of the predictive values, f0 …, are then judged
by `hambench judge --dataset NAME DRAWS.csv`. Two trajectories of 1.25 units of time make a draw; the momentum is drawn anew for each, and a
Metropolis test corrects the step's error.
"""

import argparse
import json

import numpy as np


class Linear:
    """f(x) = sqrt(2/D) sum(theta cos(frequencies x - pi/4)), or theta[0] + theta[1:] x."""

    def __init__(self, numbers):
        self.frequencies = np.array(numbers.get("frequencies", ()))

    def features(self, x):
        if not len(self.frequencies):
            return np.column_stack([np.ones(len(x)), x])
        return np.sqrt(2 / len(self.frequencies)) * np.cos(x * self.frequencies - np.pi / 4)

    def outputs(self, theta, x):
        return self.features(x) @ theta

    def pull_back(self, _, x, delta):
        return self.features(x).T @ delta


class Network:
    """f_l = relu(f_{l-1}) W_l / sqrt(D_{l-1}) + b_l, no relu on the inputs."""

    def __init__(self, numbers):
        self.widths = numbers["widths"]

    def layers(self, theta):
        at = 0
        for inputs, outputs in zip(self.widths, self.widths[1:]):
            end = at + inputs * outputs
            yield theta[at:end].reshape(inputs, outputs), theta[end : end + outputs], np.sqrt(inputs), at
            at = end + outputs

    def forward(self, theta, x):
        h, entered = x, []
        for i, (weights, bias, scale, _) in enumerate(self.layers(theta)):
            h = np.maximum(h, 0) if i else h
            entered.append(h)
            h = h @ weights / scale + bias
        return h[:, 0], entered

    def outputs(self, theta, x):
        return self.forward(theta, x)[0]

    def pull_back(self, theta, x, delta):
        gradient, delta = np.empty_like(theta), delta[:, None]
        for h, (weights, bias, scale, at) in reversed(list(zip(self.forward(theta, x)[1], self.layers(theta)))):
            gradient[at : at + weights.size] = (h.T @ delta / scale).ravel()
            gradient[at + weights.size : at + weights.size + bias.size] = delta.sum(0)
            delta = (delta @ weights.T / scale) * (h > 0)
        return gradient


class Posterior:
    """The log density of an exported regression, and its gradient."""

    def __init__(self, folder):
        with open(folder + "/problem.json", encoding="utf-8") as f:
            problem = json.load(f)
        train, test = (np.genfromtxt(folder + name, delimiter=",", skip_header=1, ndmin=2) for name in ("/train.csv", "/test.csv"))
        self.x, self.y, self.test = train[:, :-1], train[:, -1], test[:, :-1]
        numbers = problem["numbers"]
        self.variance, self.dim = numbers["noise_variance"], problem["parameters"]
        self.model = Network(numbers) if "widths" in numbers else Linear(numbers)
        value = self.log_density(np.sin(np.arange(1, self.dim + 1)))[0]
        if "len(y)" in problem["log_density"]:
            value -= len(self.y) / 2 * np.log(2 * np.pi * self.variance)
        stated = problem["example"]["log_density"]
        assert abs(value - stated) <= 1e-10 * abs(stated), (value, stated)

    def log_density(self, theta):
        residual = self.y - self.model.outputs(theta, self.x)
        gradient = self.model.pull_back(theta, self.x, residual / self.variance) - theta
        return -residual @ residual / (2 * self.variance) - theta @ theta / 2, gradient


def sample(posterior, draws, step, rng):
    """Yields the predictive values of draws, after 40 trajectories of growing steps that warm up."""
    theta, accepted, warm = rng.standard_normal(posterior.dim), 0, 40
    for i in range(2 * draws + warm):
        h = step * min(1.0, 0.02 * 1.2**i)
        momentum = rng.standard_normal(theta.size)
        value, gradient = posterior.log_density(theta)
        start, position, new = value - momentum @ momentum / 2, theta, value
        for _ in range(round(1.25 / step)):
            momentum = momentum + h / 2 * gradient
            position = position + h * momentum
            new, gradient = posterior.log_density(position)
            momentum = momentum + h / 2 * gradient
        warming = i < warm
        if warming and np.isfinite(new) or np.log(rng.uniform()) < new - momentum @ momentum / 2 - start:
            theta, accepted = position, accepted + (not warming)
        if not warming and i % 2:
            yield posterior.model.outputs(theta, posterior.test)
    print(f"accepted {accepted} of {2 * draws} trajectories")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem")
    parser.add_argument("out")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--step", type=float, default=0.002)
    args = parser.parse_args()
    posterior = Posterior(args.problem)
    with open(args.out, "w", encoding="utf-8") as out:
        print(",".join(f"f{i}" for i in range(len(posterior.test))), file=out)
        for f in sample(posterior, args.draws, args.step, np.random.default_rng(args.seed)):
            print(",".join(repr(float(v)) for v in f), file=out)


if __name__ == "__main__":
    main()
