"""The problem that every peer computes, as the Go program states it."""

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Problem:
    """A network, its data, a sampler's settings and a point to start from."""

    widths: list[int]
    noise_variance: float
    step: float
    friction: float
    theta: Array  # for each layer W as [in][out], then b
    x: Array  # [rows, features]
    y: Array
    references: dict[int, Array]  # gradient over the first batch, by batch size

    @staticmethod
    def read(path: Path) -> "Problem":
        raw = json.loads(path.read_text())
        y = np.array(raw["y"], np.float32)
        return Problem(
            widths=raw["widths"],
            noise_variance=raw["noise_variance"],
            step=raw["step"],
            friction=raw["friction"],
            theta=np.array(raw["theta"], np.float32),
            x=np.array(raw["x"], np.float32).reshape(len(y), -1),
            y=y,
            references={c["size"]: np.array(c["gradient"]) for c in raw["cases"]},
        )

    def batches(self, size: int) -> tuple[Array, Array]:
        """Inputs [K, size, features] and targets [K, size] of a partition."""
        count = len(self.y) // size
        rows = count * size
        return self.x[:rows].reshape(count, size, -1), self.y[:rows].reshape(count, size)

    def layers(self) -> list[tuple[int, int, int]]:
        """Start in theta, inputs and outputs of each layer."""
        found, at = [], 0
        for inputs, outputs in pairwise(self.widths):
            found.append((at, inputs, outputs))
            at += (inputs + 1) * outputs
        return found

    def disagreement(self, gradient: Array, size: int) -> float:
        """Largest relative error of the gradient of a layer's weights or
        biases: over all of them, a wrong bias would go under."""
        worst = 0.0
        for at, inputs, outputs in self.layers():
            bias = at + inputs * outputs
            for part in slice(at, bias), slice(bias, bias + outputs):
                want = self.references[size][part]
                error = np.linalg.norm(gradient[part] - want) / np.linalg.norm(want)
                worst = max(worst, float(error))
        return worst


def orders(count: int, steps: int, chains: int = 1) -> Array:
    """Which of the batches drives which step [chains, steps]: a fresh order
    of all of them every epoch. It is drawn beforehand, at no cost to a peer."""
    rng = np.random.default_rng(1)
    epochs = -(-steps // count)
    drawn = [[rng.permutation(count) for _ in range(epochs)] for _ in range(chains)]
    return np.array(drawn).reshape(chains, -1)[:, :steps]


class Peer(Protocol):
    """Chains of one library on batches of one size."""

    chains: int
    steps: int  # of each chain in a series

    def gradient(self) -> Array:
        """Gradient of the scaled potential over the first batch at theta."""

    def series(self) -> None:
        """Runs a series of steps to its end."""

    def momentum(self) -> Array | None:
        """The momentum after the series, None if the library hides it."""
