"""Writes waves.csv beside this file: 500 rows of three inputs and a noisy target."""

import math
import pathlib
import random

rng = random.Random(1)
with (pathlib.Path(__file__).parent / "waves.csv").open("w", encoding="utf-8") as out:
    print("left,right,level,height", file=out)
    for _ in range(500):
        left, right, level = (rng.uniform(-2, 2) for _ in range(3))
        height = math.sin(2 * left) + 0.5 * left * right + 0.3 * level + rng.gauss(0, 0.3)
        print(f"{left:.4f},{right:.4f},{level:.4f},{height:.4f}", file=out)
