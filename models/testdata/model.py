"""A model for tests: python3 model.py logistic|toy [BUG], by the standard library alone."""

import json
import math
import os
import sys

NAME = sys.argv[1]
BUG = sys.argv[2] if len(sys.argv) > 2 else ""
DIES_AFTER = int(os.environ.get("DIES_AFTER", "0"))  # questions


def sigmoid(z):
    return 1 / (1 + math.exp(-z)) if z > 0 else math.exp(z) / (1 + math.exp(z))


def softplus(z):
    return max(z, 0) + math.log1p(math.exp(-abs(z)))


class Logistic:
    """The program's model of this name, on the data that it sends."""

    def __init__(self, data):
        self.x = [[1, *x] for x in data["train_x"]]
        self.y = data["train_y"]
        self.test = [[1, *x] for x in data["test_x"]]
        self.dim, self.rows, self.outputs = len(self.x[0]), len(self.x), len(self.test)

    def potential(self, theta, rows, scale):
        z = [sum(a * b for a, b in zip(self.x[i], theta)) for i in rows]
        return scale * sum(softplus(a) - self.y[i] * a for i, a in zip(rows, z)) + sum(t * t for t in theta) / 2

    def gradient(self, theta, rows, scale):
        g = [0 if BUG == "prior" else t for t in theta]
        for i in rows:
            p = sigmoid(sum(a * b for a, b in zip(self.x[i], theta)))
            for j, x in enumerate(self.x[i]):
                g[j] += (1 if BUG == "scale" else scale) * (p - self.y[i]) * x
        return g

    def product(self, theta, v, rows, scale):
        out = list(v)
        for i in rows:
            p = sigmoid(sum(a * b for a, b in zip(self.x[i], theta)))
            w = scale * p * (1 - p) * sum(a * b for a, b in zip(self.x[i], v))
            for j, x in enumerate(self.x[i]):
                out[j] += w * x
        return out

    def predict(self, theta):
        return [sigmoid(sum(a * b for a, b in zip(x, theta))) for x in self.test]


class Toy:
    """The program's model of this name, with the data inside. Its predictions are its parameter."""

    def __init__(self, data):
        if data is not None:
            raise ValueError("this model has data of its own")
        self.x, self.dim, self.rows, self.outputs = [4, -3.2], 1, 2, 0

    def potential(self, theta, rows, scale):
        return scale * sum((theta[0] - self.x[i]) ** 2 / 4 for i in rows) + theta[0] ** 2

    def gradient(self, theta, rows, scale):
        return [scale * sum((theta[0] - self.x[i]) / 2 for i in rows) + 2 * theta[0]]


calls = 0
for line in sys.stdin:
    q = json.loads(line)
    calls += 1
    if q["op"] == "bye":
        break
    if 0 < DIES_AFTER < calls:
        print("out of memory", file=sys.stderr, flush=True)
        sys.exit(1)
    try:
        if q["op"] == "hello":
            model = {"logistic": Logistic, "toy": Toy}[NAME](q["data"])
            answer = {"version": 1, "name": "their-" + NAME, "dim": model.dim, "rows": model.rows, "outputs": model.outputs}
            answer["hessian"] = hasattr(model, "product") and BUG != "no product"
        else:
            (theta,) = q["thetas"]
            rows, scale = q.get("index") or range(*q.get("rows", (0, 0))), q.get("scale")
            if q["op"] == "predict":
                value = model.predict(theta)
            elif q["op"] == "product":
                value = model.product(theta, q["vectors"][0], rows, scale)
            elif q["op"] == "gradient":
                value = model.gradient(theta, rows, scale)
            else:
                value = [model.potential(theta, rows, scale)]
            answer = {"values": [value]}
    except ArithmeticError:  # the chain has diverged
        answer = {"values": [[None] * (1 if q["op"] == "potential" else model.dim)]}
    except ValueError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
