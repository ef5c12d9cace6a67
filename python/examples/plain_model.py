"""Logistic regression in plain Python on the program's data, as a model of the program."""

import math

import hambench


def logistic(data):
    x = [[1.0, *row] for row in data["train_x"]]
    y = data["train_y"]

    def predictor(theta, row):
        return sum(a * b for a, b in zip(row, theta))

    def sigmoid(z):
        return 0.5 + 0.5 * math.tanh(z / 2)

    def potential(theta, rows, scale):
        likelihood = 0.0
        for i in rows:
            z = predictor(theta, x[i])
            likelihood += max(z, 0) + math.log1p(math.exp(-abs(z))) - y[i] * z
        return scale * likelihood + sum(t * t for t in theta) / 2

    def gradient(theta, rows, scale):
        out = list(theta)
        for i in rows:
            residual = sigmoid(predictor(theta, x[i])) - y[i]
            out = [g + scale * residual * v for g, v in zip(out, x[i])]
        return out

    def predict(theta):
        return [sigmoid(predictor(theta, [1.0, *row])) for row in data["test_x"]]

    return hambench.model(
        potential, gradient=gradient, predict=predict, outputs=len(data["test_x"]), dim=len(x[0]), rows=len(x), backend="python", name="logistic"
    )


if __name__ == "__main__":
    hambench.serve(logistic)
