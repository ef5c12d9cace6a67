"""Computes the log density of an exported problem at its example's point, from its formula: nothing of the project is used.

usage: log_density.py FOLDER prints the value and the one that problem.json states."""

import csv
import json
import math
import sys

folder = sys.argv[1]
with open(folder + "/problem.json", encoding="utf-8") as f:
    problem = json.load(f)
with open(folder + "/train.csv", encoding="utf-8", newline="") as f:
    rows = list(csv.DictReader(f))
numbers = problem["numbers"]
xs = [[float(r[f"x{i}"]) for i in range(problem["features"])] for r in rows]
theta = [math.sin(i + 1) for i in range(problem["parameters"])]
assert len(rows) == problem["train_rows"]


def network(x):
    """The outputs of the network at a row."""
    h, at = x, 0
    widths = numbers["widths"]
    for layer, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
        if layer > 0:
            h = [max(v, 0.0) for v in h]
        weights, bias = theta[at : at + inputs * outputs], theta[at + inputs * outputs : at + (inputs + 1) * outputs]
        at += (inputs + 1) * outputs
        h = [math.fsum(h[i] * weights[i * outputs + o] for i in range(inputs)) / math.sqrt(inputs) + bias[o] for o in range(outputs)]
    assert at == len(theta)
    return h


def scalar(x):
    """f(x) of the models that are no networks."""
    if "widths" in numbers:
        return network(x)[0]
    if "frequencies" in numbers:
        return math.sqrt(2 / 256) * math.fsum(t * math.cos(w * x[0] - math.pi / 4) for t, w in zip(theta, numbers["frequencies"]))
    return theta[0] + math.fsum(a * b for a, b in zip(theta[1:], x))


terms = [-t * t / 2 / numbers.get("prior_variance", 1) for t in theta]
for x, row in zip(xs, rows):
    if problem["task"] == "regression":
        terms.append(-((float(row["y"]) - scalar(x)) ** 2) / (2 * numbers["noise_variance"]))
    elif "widths" not in numbers:
        terms.append(int(row["y"]) * scalar(x) - math.log1p(math.exp(scalar(x))))
    else:
        f = network(x)
        terms.append(f[int(row["y"])] - math.log(math.fsum(math.exp(v) for v in f)))
if "len(y)" in problem["log_density"]:  # a network's has its constant
    terms.append(-len(rows) / 2 * math.log(2 * math.pi * numbers["noise_variance"]))
print(repr(math.fsum(terms)), repr(problem["example"]["log_density"]))
