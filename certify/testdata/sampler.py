"""A sampler for tests: python3 sampler.py STEP [BUG], by the standard library alone."""

import json
import math
import sys


def gradient(force, theta):
    if "terms" in force:
        return [
            sum(
                t["weight"]
                * (t["stiffness"] * (x - t["center"]) - t["amplitude"] * t["frequency"] * math.sin(t["frequency"] * x + t["phase"]))
                for t in force["terms"]
            )
            for x in theta
        ]
    return [sum(p * x for p, x in zip(row, theta)) - s for row, s in zip(force["precision"], force["shift"])]


def add(x, w, y):
    return [a + w * b for a, b in zip(x, y)]


def times(w, x):
    return [w * a for a in x]


def leapfrog(z, forces, xi, h, c):
    theta, r, *rest = z
    theta = add(theta, h / 2, r)
    friction = 0 if BUG == "friction" else h * c
    noise = {"noise": 1.01, "silent": 0}.get(BUG, 1) * math.sqrt(2 * c * h)
    force = 0 if BUG == "adrift" else h
    r = add(add(times(1 - friction, r), -force, gradient(forces[0], theta)), noise, xi[0])
    return [add(theta, h if BUG == "half" else h / 2, r), r] + [add(times(0.5, s), h, r) for s in rest]


def baoab(z, forces, xi, h, c):
    theta, r = z
    start = theta
    g = forces[0]
    r = add(r, -h / 2, gradient(g, theta))
    theta = add(theta, h / 2, r)
    decay = 1 if BUG == "friction" else math.exp(-c * h)
    noise = 1.01 if BUG == "noise" else 1
    r = add(times(decay, r), noise * math.sqrt(-math.expm1(-2 * c * h)), xi[0])
    theta = add(theta, h / 2, r)
    r = add(r, -h if BUG == "half" else -h / 2, gradient(g, theta))
    return [start if BUG == "frozen" else theta, r]


def sgld(z, forces, xi, h, c):
    (theta,) = z
    drift = h / 2 if BUG == "half" else 0 if BUG == "friction" else h
    noise = 1.01 if BUG == "noise" else 1
    return [add(add(theta, -drift, gradient(forces[0], theta)), noise * math.sqrt(2 * h), xi[0])]


def lietrotter(z, forces, xi, h, c):
    theta, r = z
    for g in forces:
        theta = add(theta, h / 2, r)
        r = add(r, -h, gradient(g, theta))
        theta = add(theta, h / 2, r)
    t = c * h * len(forces)
    return [theta, add(times(math.exp(-t), r), math.sqrt(-math.expm1(-2 * t)), xi[0])]


def psgld(z, forces, xi, h, c):
    theta, r, v = z
    g = gradient(forces[0], theta)
    v = [0.99 * a + 0.01 * b * b - (3 if BUG == "negative" else 0) for a, b in zip(v, g)]
    precondition = [1 / (1e-5 + math.sqrt(abs(a))) for a in v]
    theta = [a - h * p * b + math.sqrt(2 * h * p) * x for a, p, b, x in zip(theta, precondition, g, xi[0])]
    return [theta, [7.0] * len(theta), v]


CLAIMS = {"psgld": (1, 1), "leapfrog": (2, 1), "baoab": (2, 2), "sgld": (1, 1), "lietrotter": (2, 2)}
NAME, STATE = sys.argv[1].split(":")
BUG = sys.argv[2] if len(sys.argv) > 2 else ""

for line in sys.stdin:
    question = json.loads(line)
    if question["op"] == "bye":
        break
    if question["op"] == "hello":
        position, joint = CLAIMS[NAME]
        answer = {
            "version": 1,
            "name": "their-" + NAME,
            "state": int(STATE),
            "normals": 1,
            "batches": 2 if NAME == "lietrotter" else 1,
            "gradients": 2 if NAME == "baoab" else 1,
            "claims": {"position": position, "joint": joint},
        }
        if NAME == "psgld":
            answer |= {"momentum": False, "auxiliary": [{"name": "v", "positive": True, "start": 1}]}
    else:
        step = globals()[NAME]
        h, c = question["h"], question["friction"]
        answer = {"states": [step(z, question["forces"], xi, h, c) for z, xi in zip(question["states"], question["normals"])]}
    print(json.dumps(answer), flush=True)
