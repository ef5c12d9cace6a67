#!/usr/bin/env python3
"""Measures a sampler step against other libraries in one run and prints the
table as Markdown. README.md says how; needs Python 3.11 or newer.

environment: PEERS_ROUNDS (default 8), PEERS_CACHE (default
$XDG_CACHE_HOME/hambench/peers), PEERS_ONLY (names of workers, with commas),
PEERS_CLOCK (wall, the default, or processor: for a busy machine)
"""

import hashlib
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SIZES = (8, 32, 128, 455)
PUBLISHED = 1202  # rows of the full batch of a problem that others have published times of
TOLERANCE = 1e-4  # of a layer's gradient; float32 gives 1e-6 to 2e-5
HEAT_TOLERANCE = 0.1  # of the mean squared momentum; over chains of 8401 parameters it varies by 0.02

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MKL_THREADING_LAYER": "SEQUENTIAL",
    "OPENBLAS_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Failure(Exception):
    """What went wrong, in one line for the user."""


class BadInput(Failure):
    """What is wrong with an environment variable, and what is allowed."""


@dataclass(frozen=True)
class Row:
    """A line of the table and the worker that measures it."""

    worker: str
    label: str
    kind: str  # ours, eager (peers that two of the goals name), or peer


PEERS = (
    Row("torch-eager", "PyTorch eager, module and autograd", "eager"),
    Row("torch-eager-flat", "PyTorch eager, the same on flat vectors", "eager"),
    Row("torch-by-hand", "PyTorch, backward by hand on flat tensors", "peer"),
    Row("torch-by-hand-mkl", "PyTorch by hand, normals from MKL", "peer"),
    Row("torch-compile", "PyTorch, torch.compile of the whole step", "peer"),
    Row("torch-by-hand-16", "PyTorch by hand, 16 chains by bmm, per chain", "peer"),
    Row("torch-by-hand-16-mkl", "PyTorch by hand, 16 chains, normals from MKL, per chain", "peer"),
    Row("jax-scan", "JAX, jit of lax.scan, threefry", "peer"),
    Row("jax-scan-rbg", "JAX, jit of lax.scan, rbg", "peer"),
    Row("jax-vmap", "JAX, vmap over 16 chains, threefry, per chain", "peer"),
    Row("jax-vmap-rbg", "JAX, vmap over 16 chains, rbg, per chain", "peer"),
    Row("jax-blackjax", "blackjax.sghmc, jit of lax.scan, threefry", "peer"),
    Row("jax-blackjax-rbg", "blackjax.sghmc, jit of lax.scan, rbg", "peer"),
)


@dataclass(frozen=True)
class Wishes:
    """What the environment asks for."""

    rounds: int
    only: list[str]  # workers; none for all
    clock: str

    @staticmethod
    def read(env: Mapping[str, str]) -> "Wishes":
        rounds, clock = env.get("PEERS_ROUNDS", "8"), env.get("PEERS_CLOCK", "wall")
        if not rounds.isdecimal() or int(rounds) < 1:
            raise BadInput(f"PEERS_ROUNDS={rounds}: want a number of at least 1")
        if clock not in ("wall", "processor"):
            raise BadInput(f"PEERS_CLOCK={clock}: want wall or processor")
        return Wishes(int(rounds), [name for name in env.get("PEERS_ONLY", "").split(",") if name], clock)

    def choose(self, rows: list[Row]) -> list[Row]:
        """The rows wanted, and the first in any case."""
        names = [r.worker for r in rows]
        for name in self.only:
            if name not in names:
                raise BadInput(f"PEERS_ONLY: unknown row {name!r}: want some of {', '.join(names)}")
        return [r for r in rows if r is rows[0] or not self.only or r.worker in self.only]


@dataclass(frozen=True)
class Goal:
    """How many times our step the time of a peer should be."""

    label: str
    kinds: tuple[str, ...]
    size: int
    factor: float


GOALS = (
    Goal("PyTorch eager, B = 8", ("eager",), 8, 20),
    Goal("PyTorch eager, B = 455", ("eager",), 455, 3.5),
    Goal("fastest peer, B = 8", ("eager", "peer"), 8, 3.5),
    Goal("fastest peer, B = 455", ("eager", "peer"), 455, 1.8),
)


@dataclass
class Result:
    """The best times of a row so far, in microseconds by batch size."""

    row: Row
    times: dict[int, float] = field(default_factory=dict)

    def add(self, size: int, microseconds: float) -> None:
        self.times[size] = min(self.times.get(size, math.inf), microseconds)


class Worker:
    """A process that answers requests, one number a line."""

    def __init__(self, name: str, command: list[str | Path], env: dict[str, str], log: Path):
        self.name, self.log = name, log
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                command, env=os.environ | ONE_THREAD | env, cwd=HERE, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip

    def ask(self, request: str) -> float:
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the empty answer below tells
        answer = self.process.stdout.readline()
        if not answer:
            said = self.log.read_text().strip().splitlines() or ["no message"]
            raise Failure(f"{self.name} ended at {request!r}: {said[-1]} (all of it: {self.log})")
        return float(answer)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def cache_folder() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("PEERS_CACHE") or base / "hambench" / "peers")


def call(what: str, *command: str | Path, **options) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise Failure(f"{what}: {said[-1]}")
    return done.stdout


def environment(cache: Path) -> Path:
    """The Python of an environment that holds requirements.txt."""
    if sys.version_info < (3, 11):
        raise Failure(f"Python {platform.python_version()}: the peers need 3.11 or newer")
    for tool in "go", "gcc", "g++", "readelf", "nm":
        if shutil.which(tool) is None:
            raise Failure(f"no {tool} on the path")
    wanted = (HERE / "requirements.txt").read_bytes() + (HERE / "stubs.py").read_bytes()
    digest = hashlib.sha256(wanted + sys.version.encode()).hexdigest()
    folder = cache / "venv"
    python, stamp = folder / "bin" / "python", folder / "stamp"
    if not stamp.exists() or stamp.read_text() != digest:
        print(f"installing the peers in {folder} (once, 3 GB)", file=sys.stderr)
        call("no environment", sys.executable, "-m", "venv", "--clear", folder)
        call(
            "cannot install bench/peers/requirements.txt; is there a network?",
            python, "-m", "pip", "install", "--quiet", "--retries", "1", "--no-compile", "--no-deps", "-r", HERE / "requirements.txt",
        )  # fmt: skip
        site = call("no site-packages", python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
        call("cannot make the stand-ins for CUDA", python, HERE / "stubs.py", site.strip())
        stamp.write_text(digest)
    return python


def widest_mkl(cache: Path) -> dict[str, str]:
    """The variables by which MKL, which takes AVX-512 on Intel's processors alone, takes it on others, too."""
    if processor("vendor_id") == "GenuineIntel":
        return {}
    library = cache / "widest_mkl.so"
    answer = "int mkl_serv_intel_cpu_true(void) { return 1; }"
    call("cannot build a library for MKL", "gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", library, input=answer)
    return {"LD_PRELOAD": str(library)}


def pin() -> int:
    """Keeps this process and those it starts on one core."""
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def our_rows(program: Path) -> list[Row]:
    """Our step on each instruction set, the fastest first; the first row is
    what the others are compared with."""
    sets = call("our program", program, "sets").split()
    return [Row(f"{isa} {bits}", f"hambench, {isa}, {bits}", "ours") for isa in sets for bits in ("float32", "float64")]


def start(row: Row, program: Path, python: Path, problem: Path, cache: Path, logs: Path) -> Worker:
    log = logs / (row.worker.replace(" ", "-") + ".log")
    if row.kind == "ours":
        isa, precision = row.worker.split()
        return Worker(row.worker, [program, "serve", problem, precision], {"HAMBENCH_ISA": isa, "GOMAXPROCS": "1"}, log)
    env = {"TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor")}
    if row.worker.startswith("torch"):
        env |= widest_mkl(cache)
    return Worker(row.worker, [python, HERE / "worker.py", problem, row.worker], env, log)


def check(worker: Worker, sizes: Sequence[int] = SIZES) -> None:
    """A peer that computes something else is not measured."""
    for size in sizes:
        error = worker.ask(f"check {size}")
        if not error < TOLERANCE:
            raise Failure(f"{worker.name}: gradient at B = {size} differs by {error:.1e} from ours: want {TOLERANCE:g}")
    heat = worker.ask(f"heat {sizes[-1]}")
    if abs(heat - 1) > HEAT_TOLERANCE:  # not of one that hides its momentum: NaN
        raise Failure(f"{worker.name}: mean squared momentum {heat:.3f} in equilibrium: want 1 ± {HEAT_TOLERANCE:g}")


def measure(results: list[Result], workers: list[Worker], rounds: int) -> list[float]:
    """Times all rows in turn, round after round; returns the peaks seen."""
    peaks = []
    for turn in range(rounds):
        for size in SIZES:
            peaks.append(workers[0].ask("peak"))
            for result, worker in zip(results, workers):
                result.add(size, worker.ask(f"time {size}"))
        print(f"round {turn + 1} of {rounds}", file=sys.stderr)
    return peaks


def table(results: list[Result]) -> str:
    ours = results[0].times
    numbers = " | ".join(str(s) for s in SIZES)
    lines = [
        f"| µs per step and x of ours, by B = | {numbers} | {numbers.replace('8', 'x: 8', 1)} |",
        "|---" * (1 + 2 * len(SIZES)) + "|",
    ]
    for r in results:
        times = [f"{r.times[s]:.{1 if r.times[s] < 100 else 0}f}" for s in SIZES]
        ratios = [f"{r.times[s] / ours[s]:.1f}" for s in SIZES]
        lines.append("| " + " | ".join([r.row.label, *times, *ratios]) + " |")
    return "\n".join(lines)


def verdict(results: list[Result]) -> str:
    """Whether each goal is met, in one line."""
    ours, parts = results[0].times, []
    for goal in GOALS:
        rivals = [r for r in results if r.row.kind in goal.kinds]
        if not rivals:
            continue
        best = min(rivals, key=lambda r: r.times[goal.size])
        ratio = best.times[goal.size] / ours[goal.size]
        met = "met" if ratio >= goal.factor else "NOT met"
        parts.append(f"{goal.label}: {ratio:.1f}x ({best.row.worker}), goal {goal.factor:g}x {met}")
    return "Goals: " + "; ".join(parts) + "."


def processor(field: str = "model name") -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith(field):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def published(program: Path, row: Row, problem: Path, rounds: int, logs: Path) -> str:
    """Our step on a problem that others have published times of, in a sentence with these."""
    problem.write_text(call("our program", program, "problem", "published"))
    worker = start(row, program, Path(), problem, logs, logs)
    try:
        check(worker, [PUBLISHED])
        step = min(worker.ask(f"time {PUBLISHED}") for _ in range(rounds))
    finally:
        worker.close()
    return (
        f"Full batches of {PUBLISHED} rows with 5 inputs, 4 layers of 16: {step:.0f} µs a step ({row.label}), so that 60 000 steps, at two "
        f"gradients each, take {120_000 * step / 1e6:.0f} s on one core. Published for that size by bde (paper/scripts/airfoil/results.csv at "
        "4bcfcac, not measured here): 235 to 246 s for ten chains of 60 000 steps of two gradients on ten cores, 18 to 21 s of them for "
        "the networks that chains start from; its network has a second output, the variance."
    )


def setting(core: int, wishes: Wishes, peaks: list[float]) -> str:
    pins = dict(line.split("==") for line in (HERE / "requirements.txt").read_text().split() if "==" in line)
    versions = ", ".join(f"{name} {pins[name]}" for name in ("torch", "mkl", "jax", "jaxlib", "blackjax", "numpy"))
    go = call("no go", "go", "env", "GOVERSION", cwd=ROOT).strip()
    return (
        f"{time.strftime('%Y-%m-%d', time.gmtime())}; {processor()}, core {core} alone; {go}, Python {platform.python_version()}, "
        f"{versions}. Best of {wishes.rounds} rounds of 5 series, rows in turn, {wishes.clock} clock. Peak of multiply-adds in the same run: "
        f"{max(peaks):.0f} GFLOP/s float32 (lowest seen: {min(peaks):.0f})."
    )


def run(wishes: Wishes) -> None:
    cache = cache_folder()
    python = environment(cache)
    program = cache / "ours"
    call("cannot build our program", os.environ.get("GO", "go"), "build", "-buildvcs=false", "-o", program, "./bench/peers", cwd=ROOT)
    core = pin()
    with tempfile.TemporaryDirectory() as scratch:
        problem = Path(scratch) / "problem.json"
        problem.write_text(call("our program", program, "problem"))
        rows = wishes.choose([*our_rows(program), *PEERS])
        workers = []
        try:
            for row in rows:
                workers.append(start(row, program, python, problem, cache, cache))
                check(workers[-1])
                print(f"{row.worker}: gradients agree", file=sys.stderr)
            results = [Result(r) for r in rows]
            peaks = measure(results, workers, wishes.rounds)
        finally:
            for w in workers:
                w.close()
        beside = published(program, rows[0], problem, wishes.rounds, cache)
    print(table(results), verdict(results), beside, setting(core, wishes, peaks), sep="\n\n")


def main() -> int:
    try:
        run(Wishes.read(os.environ))
    except (Failure, OSError) as e:
        print(f"peers: {e}", file=sys.stderr)
        return 2 if isinstance(e, BadInput) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
