"""Answers requests for numbers about one peer, one a line: see serve.go.

usage: worker.py PROBLEM PEER
"""

import importlib
import os
import sys
import time
from pathlib import Path

import numpy as np

from problem import Peer, Problem

HEAT_STEPS = 400  # as in serve.go
SERIES = 5
CLOCK = time.process_time if os.environ.get("PEERS_CLOCK") == "processor" else time.perf_counter


def find(name: str):
    """The maker of a peer's chains; a name begins with its module's."""
    module = importlib.import_module("peers_" + name.split("-")[0])
    return module.PEERS[name]


def heat(peer: Peer) -> float:
    """Mean squared momentum in equilibrium, NaN if the library hides it."""
    done = 0
    while done < HEAT_STEPS:
        peer.series()
        done += peer.steps
    r = peer.momentum()
    return float("nan") if r is None else float(np.mean(np.square(r, dtype=np.float64)))


def best_time(peer: Peer) -> float:
    """Microseconds per step and chain of the fastest series."""
    best = float("inf")
    for _ in range(SERIES):
        start = CLOCK()
        peer.series()
        best = min(best, CLOCK() - start)
    return best * 1e6 / (peer.steps * peer.chains)


def main() -> None:
    problem, make = Problem.read(Path(sys.argv[1])), find(sys.argv[2])
    peers: dict[int, Peer] = {}
    for line in sys.stdin:
        what, size = line.split()[0], int(line.split()[1])
        if size not in peers:
            peers[size] = make(problem, size)
        if what == "check":
            answer = problem.disagreement(peers[size].gradient(), size)
        elif what == "heat":
            answer = heat(peers[size])
        else:
            answer = best_time(peers[size])
        print(answer, flush=True)


if __name__ == "__main__":
    main()
