"""What a call from Python costs beside the program's own start: medians over calls, in milliseconds and as multiples."""

import pathlib
import statistics
import subprocess
import sys
import time

import hambench

sys.path.insert(0, str(pathlib.Path(__file__).parent / "examples"))
import plain_numpy

ASKED = {"problem": "gaussian", "scheme": "full", "steps": [0.1]}


def start() -> None:
    """The program starts, says its version, and ends."""
    subprocess.run([hambench.program(), "--version"], capture_output=True, check=True)


def milliseconds(call, repeats=21):
    """The median time of a call, after one that is not counted."""
    call()
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        taken.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(taken)


if __name__ == "__main__":
    own = milliseconds(start)
    print(f"{'the program itself (--version)':40} {own:7.1f} ms")
    for what, call in {
        "certify, a sampler in numpy": lambda: hambench.certify(plain_numpy.sampler, **ASKED),
        "sample, two chains of ten draws": lambda: hambench.sample(model="linear", integrator="baoab", samples=10, chains=2),
    }.items():
        took = milliseconds(call)
        print(f"{what:40} {took:7.1f} ms  {took / own:5.1f} times")
