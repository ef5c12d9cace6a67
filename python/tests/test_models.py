"""Models in numpy, JAX and PyTorch beside the program's own. Needs what requirements.txt lists."""

import json
import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import hambench

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
PAGE = (EXAMPLES.parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
CHAIN = {"integrator": "mt3", "h": 0.1, "friction": 2, "K": 3, "samples": 20}
X = np.linspace(-1, 1, 30)
Y = 0.7 * X + 0.1 * np.sin(9 * X)


def squares(theta, rows, scale):
    """Works on arrays of any library that has the data."""
    x, y = DATA[type(theta).__module__.split(".")[0]]
    residual = y[rows] - theta[0] - theta[1] * x[rows]
    return scale * (residual**2).sum() * 5 + (theta**2).sum() / 2


def slopes(theta, rows, scale):
    residual = theta[0] + theta[1] * X[rows] - Y[rows]
    return scale * 10 * np.array([residual.sum(), (residual * X[rows]).sum()]) + theta


def bends(theta, v, rows, scale):
    along = v[0] + v[1] * X[rows]
    return scale * 10 * np.array([along.sum(), (along * X[rows]).sum()]) + v


DATA = {"numpy": (X, Y)}
MODEL = hambench.model(squares, gradient=slopes, product=bends, dim=2, rows=30)


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_derivatives_are_those_that_were_written(library):
    lib = pytest.importorskip(library)
    if library == "jax":
        lib.config.update("jax_enable_x64", True)
        DATA["jax"] = DATA["jaxlib"] = (lib.numpy.asarray(X), lib.numpy.asarray(Y))
    else:
        DATA["torch"] = (lib.tensor(X), lib.tensor(Y))
    theirs = hambench.model(squares, dim=2, rows=30, backend=library)
    for op in ("potential", "gradient", "product"):
        for rows in ({"rows": [0, 30]}, {"rows": [10, 20]}, {"rows": [4, 4]}, {"index": [7, 2, 29]}):
            question = {"op": op, "thetas": [[0.3, -1.2], [2.0, 0.1]], "vectors": [[1.0, 0.5], [0.0, 2.0]], "scale": 3.0, **rows}
            if op != "product":
                del question["vectors"]
            np.testing.assert_allclose(theirs.answer(question)["values"], MODEL.answer(question)["values"], rtol=1e-12, atol=1e-11)  # sums of terms of size 100


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_a_potential_that_is_no_number_is_named(library):
    lib = pytest.importorskip(library)
    if library == "jax":
        lib.config.update("jax_enable_x64", True)
    for wrong, said in ((lambda theta, rows, scale: theta, r"the shape \(2,\)"), (lambda theta, rows, scale: None, "NoneType")):
        model = hambench.model(wrong, dim=2, rows=30, backend=library)
        for op in ("potential", "gradient"):
            with pytest.raises(hambench.HambenchError, match=f"^potential returned {said}: return a number"):
                model.answer({"op": op, "thetas": [[0.3, -1.2]], "rows": [10, 20], "scale": 3.0})


def test_functions_that_were_written_for_jax_are_compiled_and_agree():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    DATA["jax"] = DATA["jaxlib"] = (jax.numpy.asarray(X), jax.numpy.asarray(Y))
    called = []

    def written(theta, rows, scale):
        called.append(theta)
        return jax.grad(squares)(theta, rows, scale)

    def lines(theta):
        called.append(theta)
        return theta[0] + theta[1] * DATA["jax"][0][:4]

    model = hambench.model(squares, gradient=written, predict=lines, outputs=4, dim=2, rows=30, backend="jax")
    for _ in range(3):
        question = {"op": "gradient", "thetas": [[0.3, -1.2]], "rows": [10, 20], "scale": 3.0}
        np.testing.assert_allclose(model.answer(question)["values"], MODEL.answer(question)["values"], rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(model.answer({"op": "predict", "thetas": [[0.3, -1.2]]})["values"], [0.3 - 1.2 * X[:4]], rtol=1e-12)
    assert len(called) == 2  # once each


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_beside_a_gradient_that_was_written_no_product_is_derived(library):
    """Of a potential that has none, as its solver goes on until it is done: here Newton's square root."""
    lib = pytest.importorskip(library)
    if library == "jax":
        lib.config.update("jax_enable_x64", True)

        def root(x):
            return lib.lax.while_loop(lambda y: abs(y * y - x) > 1e-12 * x, lambda y: (y + x / y) / 2, x)
    else:

        class Root(lib.autograd.Function):
            @staticmethod
            def forward(context, x):
                context.save_for_backward(x)
                return x.sqrt()

            @staticmethod
            def backward(context, g):
                return g / (2 * context.saved_tensors[0].sqrt())

        root = Root.apply

    def potential(theta, rows, scale):
        return scale * len(rows) * root(1 + theta[0] ** 2) / 4 + theta[0] ** 2 / 2

    def gradient(theta, rows, scale):
        return scale * len(rows) * theta / (4 * (1 + theta**2) ** 0.5) + theta

    def product(theta, v, rows, scale):
        return scale * len(rows) * v / (4 * (1 + theta**2) ** 1.5) + v

    settings = {"gradient": gradient, "dim": 1, "rows": 4, "backend": library}
    draws = hambench.sample(model=hambench.model(potential, **settings), integrator="baoab", h=0.1, K=2, samples=2)
    assert np.shape(draws["theta"]) == (1, 2, 1)
    with pytest.raises(hambench.HambenchError, match='"mt3" needs Hessian-vector products'):
        hambench.sample(model=hambench.model(potential, **settings), integrator="mt3", h=0.1, K=2, samples=2)
    draws = hambench.sample(model=hambench.model(potential, product=product, **settings), integrator="mt3", h=0.1, K=2, samples=2)
    assert np.shape(draws["theta"]) == (1, 2, 1)


def test_settings_may_be_numpys_numbers():
    model = hambench.model(squares, gradient=slopes, dim=np.int64(2), rows=np.int64(30), predict=lambda theta: theta, outputs=np.prod([1, 2]))
    assert np.shape(hambench.sample(model=model, integrator="baoab", h=0.1, samples=2, predictions=True)["f"]) == (1, 2, 2)
    sampler = hambench.sampler(lambda t, r, *_: (t, r), state=np.int64(2), position=np.int64(2), joint=np.float32(1))
    rows = hambench.certify(sampler, problem="gaussian", scheme=np.array(["full"]), steps=np.array([0.1]))
    assert rows[0].observables[0].verdict == "theta never moves"
    toy = {"model": "toy", "h": np.float32(0.1), "samples": np.int64(5)}
    paths = hambench.sample(**toy, integrator="leapfrog", coupled=np.True_, friction=np.float64(1))
    assert paths == hambench.sample(**toy, integrator="leapfrog", coupled=True, friction=1)
    assert hambench.sample(**toy, chains=np.int64(2), coupled=np.False_) == hambench.sample(model="toy", h=0.1, samples=5, chains=2)
    for wrong, message in (
        ({"chains": True}, "^chains=True: want a whole number$"),
        ({"chains": np.True_}, "^chains=np.True_: want a whole number$"),
        ({"chains": 2.0}, r"^chains=2\.0: want a whole number$"),
        ({"chains": "2"}, "^chains='2': want a whole number$"),
        ({"seed": True}, '--seed "true": want a number'),
    ):
        with pytest.raises(hambench.HambenchError, match=message):
            hambench.sample(**toy, **wrong)
    with pytest.raises(hambench.HambenchError, match="^dim=True: want a whole number$"):
        hambench.model(squares, gradient=slopes, dim=True, rows=30)
    known = hambench.sampler(len, state=3, auxiliary=[{"name": "zeta", "start": np.int64(0), "deviation": np.float32(1)}])
    assert json.loads(json.dumps(known.answer({"op": "hello", "version": 1})))["auxiliary"] == [{"name": "zeta", "start": 0, "deviation": 1}]


def test_what_a_gradient_returns_is_blamed_on_what_it_returns(tmp_path):
    for wrong in (lambda theta, *_: np.ma.masked_greater(theta, -9), lambda theta, *_: theta + 1j, lambda theta, *_: [0.0, [1.0]]):
        with pytest.raises(hambench.HambenchError, match="gradient of the model squares returned what is no real number: "):
            hambench.sample(model=hambench.model(squares, gradient=wrong, dim=2, rows=30), integrator="leapfrog", h=0.1, samples=2)
    (tmp_path / "rows.csv").write_text("1\n")
    for files in (tmp_path / "rows.csv", str(tmp_path / "rows.csv"), [tmp_path / "rows.csv"]):
        assert hambench.model(squares, gradient=slopes, dim=2, rows=30, files=files).files == [str((tmp_path / "rows.csv").resolve())]


def test_chains_of_a_model_of_this_process_run_side_by_side():
    draws = hambench.sample(model=MODEL, chains=2, **CHAIN)["theta"]
    assert np.shape(draws) == (2, 20, 2) and draws[0] != draws[1]


def test_a_jax_model_in_float32_says_what_to_change():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(hambench.HambenchError, match="jax_enable_x64"):
            hambench.model(squares, dim=2, rows=30, backend="jax")
    finally:
        jax.config.update("jax_enable_x64", True)


def test_without_products_mt3_is_refused_by_name():
    plain = hambench.model(squares, gradient=slopes, dim=2, rows=30)
    with pytest.raises(hambench.HambenchError, match='"mt3" needs Hessian-vector products, which model "squares" does not have'):
        hambench.sample(model=plain, **CHAIN)


def test_a_division_by_zero_is_the_cause_of_the_error_and_an_overflow_is_no_error():
    def broken(theta, rows, scale):
        return [1 / 0.0 for _ in theta]

    with pytest.raises(hambench.HambenchError) as caught:
        hambench.sample(model=hambench.model(squares, gradient=broken, dim=2, rows=30), **CHAIN)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)

    def far(theta, rows, scale):
        raise OverflowError

    answer = hambench.model(far, gradient=slopes, dim=2, rows=30).answer({"op": "potential", "thetas": [[1.0, 2.0]], "scale": 1})
    assert answer == {"values": [[None]]}


def test_the_commands_of_the_page_work():
    pytest.importorskip("jax")
    commands = re.findall(r"^hambench ((?:sample|run) .*model.*)$", PAGE, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        words = shlex.split(command.replace("python3", sys.executable))
        done = subprocess.run([hambench.program(), *words], cwd=EXAMPLES, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout.startswith("sample,theta0"), (command, done.stderr)
