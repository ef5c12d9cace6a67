"""Samplers in numpy, JAX and PyTorch beside the program's own. Needs what requirements.txt lists."""

import json
import math
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

import hambench

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def leapfrog(theta, r, grad, normal, h, friction):
    theta = theta + h / 2 * r
    r = r - h * grad(theta) - h * friction * r + np.sqrt(2 * friction * h) * normal
    return theta + h / 2 * r, r


def baoab(theta, r, grad, normal, h, friction):
    r = r - h / 2 * grad(theta)
    theta = theta + h / 2 * r
    decay = np.exp(-friction * h)
    r = decay * r + np.sqrt(1 - decay**2) * normal
    theta = theta + h / 2 * r
    return theta, r - h / 2 * grad(theta)


def sgld(theta, r, grad, normal, h, friction):
    return theta - h * grad(theta) + np.sqrt(2 * h) * normal


def wrap(step, **settings):
    orders = {"leapfrog": (2, 1), "baoab": (2, 2), "sgld": (1, 1)}[step.__name__]
    return hambench.sampler(step, position=orders[0], joint=orders[1], state=1 if step is sgld else 2, gradients=2 if step is baoab else 1, **settings)


@pytest.mark.parametrize("step", [leapfrog, baoab, sgld])
@pytest.mark.parametrize("batched", [False, True])
def test_errors_are_the_programs_own(step, batched):
    mine = wrap(step, name="mine", batched=batched)
    rows = hambench.certify(mine, problem="gaussian", integrator=[step.__name__], steps=np.array([0.1, 0.05])).assert_claims()
    for scheme in ("full", "reshuffle", "replacement", "cyclic", "symmetric"):
        a, b = rows.find(integrator="mine", scheme=scheme)[0], rows.find(integrator=step.__name__, scheme=scheme)[0]
        for x, y in zip(a.observables, b.observables, strict=True):
            assert np.abs(np.subtract(x.errors, y.errors)).max() < 1e-11
            assert x.verdict == y.verdict


def test_scalar_errors_agree_within_the_resolution():
    rows = hambench.certify(wrap(leapfrog, name="mine", batched=True), problem="scalar", scheme=["full", "reshuffle"], integrator=["leapfrog"])
    for scheme in ("full", "reshuffle"):
        a, b = rows.find(integrator="mine", scheme=scheme)[0], rows.find(integrator="leapfrog", scheme=scheme)[0]
        for x, y in zip(a.observables, b.observables, strict=True):
            assert (np.abs(np.subtract(x.errors, y.errors)) <= np.add(x.resolution, y.resolution)).all()


def without_friction(theta, r, grad, normal, h, friction):
    theta = theta + h / 2 * r
    r = r - h * grad(theta) + np.sqrt(2 * friction * h) * normal
    return theta + h / 2 * r, r


BUGS = {
    "noise": (leapfrog, lambda t, r, g, n, h, c: leapfrog(t, r, g, 1.01 * n, h, c), "refuted"),
    "half step": (leapfrog, lambda t, r, g, n, h, c: (leapfrog(t, r, g, n, h, c)[0] + h / 2 * r, leapfrog(t, r, g, n, h, c)[1]), "refuted|no stationary law"),
    "friction": (leapfrog, without_friction, "no stationary law"),
    "frozen": (baoab, lambda t, r, g, n, h, c: (t, baoab(t, r, g, n, h, c)[1]), "theta never moves"),
    "no noise": (leapfrog, lambda t, r, g, n, h, c: leapfrog(t, r, g, 0 * n, h, c), "does not depend on its noise"),
    "sgld's noise": (sgld, lambda t, r, g, n, h, c: sgld(t, r, g, n / np.sqrt(2), h, c), "refuted"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug):
    right, wrong, verdict = BUGS[bug]
    with pytest.raises(AssertionError, match=verdict):
        hambench.certify(wrap(right)(step=wrong, batched=True, gradients=2), problem="gaussian", scheme=["full"]).assert_claims()


def test_what_comes_back_for_a_momentum_that_there_is_not_is_not_read():
    def step(theta, r, auxiliary, grad, normal, h, friction):
        theta, v = leapfrog(theta, auxiliary[0], grad, normal, h, friction)
        return theta, None, (v,)

    question = {"op": "step", "h": 0.1, "friction": 2.0, "states": [[[1.0], [0.0], [0.5]]], "normals": [[[0.0]]], "forces": [{"precision": [[2.0]], "shift": [1.0]}]}
    for batched in (False, True):
        state = hambench.sampler(step, state=3, momentum=False, batched=batched).answer(question)["states"][0]
        assert state[1] == [0.0] and [state[0], state[2]] == [pytest.approx([1.03975]), pytest.approx([0.295])]


def test_settings_that_are_none_are_named():
    for wrong, message in (
        ({"position": math.inf}, "^position=inf: want a finite order$"),
        ({"position": None}, "^position=None: want a finite order$"),
        ({"joint": "2"}, "^joint='2': want a finite order$"),
        ({"auxiliary": "v"}, "^auxiliary='v': want a list of dicts"),
        ({"auxiliary": [{"name": "v"}, "w"]}, "^auxiliary=.*: want a list of dicts"),
    ):
        with pytest.raises(hambench.HambenchError, match=message):
            hambench.sampler(leapfrog, **wrong)
    for steps in (0.1, "0.1"):
        with pytest.raises(ValueError, match="^steps=.*: want some, such as"):
            hambench.certify(wrap(leapfrog), problem="gaussian", steps=steps)
    with pytest.raises(hambench.HambenchError, match=r"^problem: \{1\}: want numbers, texts, lists and dicts$"):
        hambench.certify(wrap(leapfrog), problem={"kind": {1}})
    plain = hambench.sampler(lambda theta, r, *_: ([np.float64(x) for x in theta], np.asarray(r)), backend="python")
    assert hambench.certify(plain, problem="gaussian", scheme=None, steps=(h for h in (0.2, 0.1)))[0].observables[0].verdict == "theta never moves"


def test_auxiliary_variables_and_several_batches():
    def inner(theta, r, last, grads, normals, h, friction):
        for grad in grads:
            theta = theta + h / 2 * r
            r = r - h * grad(theta)
            theta = theta + h / 2 * r
        decay = np.exp(-2 * friction * h)
        return theta, decay * r + np.sqrt(1 - decay**2) * normals[0], (r,)

    mine = hambench.sampler(inner, position=2, joint=2, state=3, batches=2, normals=2, batched=True)
    rows = hambench.certify(mine, problem="gaussian", scheme=["full", "reshuffle"]).assert_claims()
    assert rows[0].nl == 2 and rows.order("theta.cov", scheme="reshuffle") == 2


@pytest.mark.parametrize("backend, batched", [("numpy", False), ("numpy", True), ("python", False), ("jax", False), ("torch", False)])
def test_a_step_that_takes_more_gradients_than_it_says_is_refused(backend, batched):
    if backend != "python":
        pytest.importorskip(backend)
    if backend == "jax":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)

    def take(calls=1, products=0, batches=1, **settings):
        def step(theta, r, grad, normal, h, friction):
            last = grad[-1] if batches > 1 else grad
            for _ in range(calls):
                last(theta)
            for _ in range(products):
                last.hvp(theta, r)
            return theta, r

        return hambench.sampler(step, batches=batches, backend=backend, batched=batched, **settings)

    def found(sampler):
        return hambench.certify(sampler, problem="gaussian", scheme="full", steps=[0.1])[0].observables[0].verdict

    for right in (take(), take(2, gradients=2), take(gradients=3), take(1, 1, hessian=True), take(1, 3, gradients=5, hessian=True), take(2, batches=2, gradients=2)):
        assert found(right) == "theta never moves"
    for wrong, message in (
        (take(2), "^step takes 2 gradients of a batch: say gradients=2"),
        (take(3, batches=2), "^step takes 3 gradients of a batch: say gradients=3"),
        (take(1, 1), "^step takes Hessian-vector products: say hessian=True"),
        (take(1, 3, hessian=True), "^step takes 5 gradients of a batch: say gradients=5"),
    ):
        with pytest.raises(hambench.HambenchError, match=message):
            found(wrong)


def test_gradients_of_a_compiled_step_count_as_they_run():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def scanned(theta, grad, times=10):
        return jax.lax.scan(lambda t, _: (t - grad(t), None), theta, None, length=times)[0]

    def twice(theta, grad):
        inner = jax.jit(lambda t: grad(t))
        return inner(theta) + inner(2 * theta)

    def found(take, gradients, **settings):
        def step(theta, r, grad, normal, h, friction):
            return theta, r + 0 * take(theta, grad)

        ours = hambench.sampler(step, backend="jax", gradients=gradients, **settings)
        return hambench.certify(ours, problem="gaussian", scheme="full", steps=[0.1])[0].observables[0].verdict

    for take, gradients in (
        (scanned, 10),
        (lambda theta, grad: jax.lax.fori_loop(0, 7, lambda i, t: t - grad(t), theta), 7),
        (twice, 2),
        (lambda theta, grad: jax.lax.cond(theta[0] > 1e9, lambda t: grad(t) + grad(2 * t), grad, theta), 1),
        (lambda theta, grad: jax.vmap(grad)(jax.numpy.stack([theta, 2 * theta, 3 * theta])).sum(axis=0), 3),
        (lambda theta, grad: scanned(theta, grad, times=0) + grad(theta), 1),
    ):
        assert found(take, gradients) == "theta never moves"
        if gradients > 1:
            with pytest.raises(hambench.HambenchError, match=f"^step takes {gradients} gradients of a batch: say gradients={gradients}, "):
                found(take, gradients - 1)
    curved = lambda theta, grad: grad(theta) + jax.lax.fori_loop(0, 3, lambda i, v: grad.hvp(theta, v), theta)  # noqa: E731
    assert found(curved, 5, hessian=True) == "theta never moves"
    with pytest.raises(hambench.HambenchError, match="^step takes 5 gradients of a batch: say gradients=5, "):
        found(curved, 4, hessian=True)


@pytest.mark.parametrize("example, library", [("plain_numpy", "numpy"), ("with_jax", "jax"), ("with_torch", "torch")])
def test_the_examples_run(example, library, capsys):
    pytest.importorskip(library)
    runpy.run_path(str(EXAMPLES / f"{example}.py"), run_name="__main__")
    assert "confirmed" in capsys.readouterr().out


@pytest.mark.parametrize("example, library, seconds", [("plain_numpy", "numpy", 10), ("with_jax", "jax", 30)])
def test_all_built_in_problems_in_little_time(example, library, seconds, request):
    pytest.importorskip(library)
    sampler = runpy.run_path(str(EXAMPLES / f"{example}.py"))["sampler"]
    start = time.monotonic()
    rows = hambench.certify(sampler).assert_claims()
    print(f"{example}: {time.monotonic() - start:.1f} s, want {seconds} s on an idle machine")
    assert {r.problem for r in rows} == {"gaussian", "scalar", "toy"}


def test_jax_in_float32_says_what_to_change():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(hambench.HambenchError, match="jax_enable_x64"):
            hambench.certify(hambench.sampler(lambda t, r, g, n, h, c: (t, r), backend="jax"), problem="toy")
    finally:
        jax.config.update("jax_enable_x64", True)


def test_numpy_and_torch_in_float32_say_what_to_change():
    problem = {"kind": "gaussian", "friction": 1.5, "batches": [{"precision": np.array([[2.0]]), "shift": np.ones(1)}]}  # of arrays

    def coarse(theta, r, grad, normal, h, friction):
        theta, r = leapfrog(theta, r, grad, normal, h, friction)
        return theta, r.astype(np.float32)

    hambench.certify(wrap(leapfrog), problem=problem, steps=[0.1])
    for batched in (False, True):
        with pytest.raises(hambench.HambenchError, match="^step returned float32, too coarse here: compute in float64$"):
            hambench.certify(hambench.sampler(coarse, batched=batched), problem=problem)

    def within(theta, r, grad, normal, h, friction):
        theta, r = leapfrog(theta, r, grad, normal.astype(np.float32), h, friction)
        return theta, r + 0 * normal

    with pytest.raises(hambench.HambenchError, match="not affine .*: does it compute in float32[?]$"):
        hambench.certify(hambench.sampler(within), problem=problem)
    with pytest.raises(hambench.HambenchError, match="^step returned complex128, imaginary parts"):
        hambench.certify(hambench.sampler(lambda t, r, *_: (t, r + 0j)), problem=problem)
    for batched in (False, True):  # the numbers under a mask are right
        masked = hambench.sampler(lambda *of: (leapfrog(*of)[0], np.ma.array(leapfrog(*of)[1], mask=True)), batched=batched, gradients=2)
        with pytest.raises(hambench.HambenchError, match="^step returned masked elements: return a number for each$"):
            hambench.certify(masked, problem=problem)
    torch = pytest.importorskip("torch")
    with pytest.raises(hambench.HambenchError, match="^step returned float32"):
        hambench.certify(hambench.sampler(lambda t, r, *_: (t, r.to(torch.float32)), backend="torch"), problem=problem)


def test_a_hundred_calls_leave_the_process_as_it_was():
    """In a process of its own, whose threads, files and memory are counted, and whose exit is timed."""
    script = """
import gc, json, os, sys, threading, time
sys.path[:0] = json.loads(sys.argv[1])
import hambench, test_smoke
ours = hambench.sampler(test_smoke.leapfrog, position=2, joint=1, backend="python")
def call(i):
    if i % 20:
        hambench.certify(ours, problem=test_smoke.GAUSSIAN, scheme="full", steps=[0.1])
    else:
        hambench.sample(model=test_smoke.mean(), integrator="baoab", h=0.3, samples=2, chains=2)
def state():
    gc.collect()
    pages = int(open("/proc/self/statm").read().split()[1]) if os.path.exists("/proc") else 0
    return threading.active_count(), len(os.listdir("/proc/self/fd")) if os.path.exists("/proc") else 0, pages * 4096
for i in range(10):
    call(i)
before = state()
for i in range(100):
    call(i)
print(json.dumps([before, state(), time.time()]))
"""
    done = subprocess.run([sys.executable, "-c", script, json.dumps([str(pathlib.Path(__file__).parent), *sys.path])], capture_output=True, text=True, check=True)
    ended = time.time()
    before, after, last = json.loads(done.stdout)
    print(f"exit {ended - last:.2f} s after the last call, want 0.3 s on an idle machine")
    assert done.stderr == "" and after[:2] == before[:2] and before[0] == 1
    assert after[2] - before[2] < 4e6  # a leak of a thread a call would take more


def test_the_package_needs_nothing_else():
    used = {line.split()[1].split(".")[0] for f in EXAMPLES.parent.glob("hambench/*.py") for line in f.read_text(encoding="utf-8").splitlines() if line.startswith(("import ", "from "))}
    assert used - {"hambench", "__future__"} <= set(sys.stdlib_module_names)


def test_the_page_shows_the_examples():
    page = (EXAMPLES.parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
    for example in EXAMPLES.glob("*.py"):
        assert example.read_text(encoding="utf-8").strip() in page, example


def test_the_workflow_of_the_page_fails_when_an_order_changes(tmp_path):
    """Runs its commands: as they are, and on a sampler that has got worse."""
    page = (EXAMPLES.parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
    commands = re.findall(r"- run: (hambench .*)", page)
    assert len(commands) == 2
    environment = {**os.environ, "PATH": f"{pathlib.Path(hambench.program()).parent}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    source = (EXAMPLES / "plain_numpy.py").read_text(encoding="utf-8").replace('if __name__ == "__main__":', "hambench.serve(sampler)\nif False:")
    (tmp_path / "sampler.py").write_text(source)

    def run():
        return [subprocess.run(c, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False) for c in commands]

    assert run()[0].returncode == 0
    shutil.copy(tmp_path / "orders.json", tmp_path / "baseline.json")
    assert [c.returncode for c in run()] == [0, 0]
    (tmp_path / "sampler.py").write_text(source.replace("theta + h / 2 * r, r", "theta + 0.51 * h * r, r"))
    certified, gated = run()
    assert certified.returncode == 1 and "refuted" in certified.stderr
    assert gated.returncode == 1, gated.stdout + gated.stderr
