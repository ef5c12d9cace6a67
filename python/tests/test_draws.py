"""What ``hambench sample`` writes is read by the tools that people use: the same values; theirs are judged."""

import csv
import os
import pathlib
import subprocess
import warnings

import numpy as np
import pytest

import hambench

az = pytest.importorskip("arviz", minversion="1.0", reason="the readers of draws are not installed: make test-python installs them")
xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")
zarr = pytest.importorskip("zarr")

CHAINS, DRAWS, PARAMETERS, ROWS = 4, 301, 256, 200
TRAINING, NOISE = 128, 0.1  # of the data set linear
SAMPLE = ["--dataset", "linear", "--integrator", "baoab", "--batch", "8", "--h", "0.02", "--thin", "60", "--samples", str(DRAWS), "--chains", str(CHAINS)]


def run(*args: str | os.PathLike[str], allowed: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run([hambench.program(), *map(str, args)], capture_output=True, text=True)
    assert done.returncode in allowed, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    to = tmp_path_factory.mktemp("draws")
    for name, flags in {"draws.csv": (), "f.csv": ("--predictions",), "draws.jsonl": ("--format", "jsonl")}.items():
        (to / name).write_text(run("sample", *SAMPLE, *flags))
    run("sample", *SAMPLE, "--format", "zarr", "--to", to / "draws.zarr")
    return to


@pytest.fixture(scope="module")
def tree(folder: pathlib.Path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return xr.open_datatree(folder / "draws.zarr").load()


def shaped(table) -> np.ndarray:
    """Columns theta0 … or f0 … of a table with chain and draw, as chains × draws × numbers."""
    table = table.sort_values(["chain", "draw"])
    return table.drop(columns=["chain", "draw"]).to_numpy().reshape(CHAINS, DRAWS, -1)


def test_xarray_opens_the_groups_without_options(tree):
    assert set(tree.children) == {
        "posterior", "sample_stats", "predictions", "predictions_constant_data", "posterior_predictive", "log_likelihood", "observed_data", "constant_data"
    }  # fmt: skip
    assert tree.posterior.theta.dims == ("chain", "draw", "theta_dim_0")
    for group, rows in {"predictions": ROWS, "posterior_predictive": TRAINING}.items():
        for name in "fy":
            assert tree[group][name].dims == ("chain", "draw", "row") and tree[group][name].shape == (CHAINS, DRAWS, rows)
    assert tree.log_likelihood.y.shape == (CHAINS, DRAWS, TRAINING)
    assert tree.predictions_constant_data.y.shape == (ROWS,) and tree.predictions_constant_data.x.shape == (ROWS, 1)
    assert tree.observed_data.y.shape == (TRAINING,) and tree.constant_data.x.shape == (TRAINING, 1)
    assert list(tree.posterior.chain) == list(range(CHAINS)) and list(tree.posterior.draw) == list(range(DRAWS))
    for attrs in (tree.attrs, tree.posterior.attrs):
        said = [attrs[k] for k in ("integrator", "scheme", "h", "K", "certified_order_theta", "certified_order_joint", "dataset", "seed")]
        assert said == ["baoab", "reshuffle", 0.02, 16, 2, 2, "linear", 1]
        assert len(attrs["data_digest"]) == 64


def test_pandas_and_duckdb_read_the_same_values(folder, tree):
    theta, f = tree.posterior.theta.values, tree.predictions.f.values
    assert theta.shape == (CHAINS, DRAWS, PARAMETERS) and f.shape == (CHAINS, DRAWS, ROWS)
    np.testing.assert_array_equal(shaped(pd.read_csv(folder / "draws.csv")), theta)
    np.testing.assert_array_equal(shaped(pd.read_csv(folder / "f.csv")), f)
    np.testing.assert_array_equal(shaped(duckdb.read_csv(str(folder / "draws.csv")).df()), theta)
    lines = duckdb.sql(f"select theta from read_json('{folder / 'draws.jsonl'}') order by chain, draw").fetchall()
    np.testing.assert_array_equal(np.array(lines).reshape(theta.shape), theta)


def test_arviz_reads_the_same_values(folder, tree):
    np.testing.assert_array_equal(az.from_zarr(folder / "draws.zarr").posterior.theta, tree.posterior.theta)
    assert len(az.summary(tree, var_names="theta")) == PARAMETERS


def test_arviz_and_arrays_are_judged_alike(tree):
    first, last = tree.isel(chain=slice(0, 2)), tree.isel(chain=slice(2, 4))
    judged = hambench.judge(first, reference=last)
    assert judged.verdict != "refused", judged
    arrays = [{"theta": t.posterior.theta.values} for t in (first, last)]
    assert hambench.judge(arrays[0], reference=arrays[1]).data == judged.data
    cost = hambench.judge(first, reference=last, gradients=500.0).data
    assert cost["effective_per_1000_gradients"] == pytest.approx(2 * cost["draws"]["effective"])
    assert {c["name"] for c in judged.data["columns"]} == {f"theta[{i + 1}]" for i in range(PARAMETERS)}
    assert hambench.judge({"theta": 2 * arrays[0]["theta"]}, reference=last).verdict == "refused"


def test_draws_of_another_form_are_errors_that_say_which_is_wanted():
    numbers = np.random.default_rng(1).normal(size=(2, 50, 2))
    right = xr.Dataset({"x": (("chain", "draw", "d"), numbers)})
    frame = pd.DataFrame(numbers[0], columns=["a", "b"])
    # Dimensions go by their names, and what has none of draws is passed over, as in zarr.
    assert hambench.judge(right.transpose("draw", "d", "chain").assign(known=2.0), reference=right).data["copied"]
    for draws, error, want in (
        (right.x, TypeError, "a DataArray has the draws of one variable"),
        (xr.DataTree.from_dict({"prior": right}), ValueError, "no group posterior: the object has .*prior"),
        ({"x": numbers[..., 0] + 1j}, TypeError, "complex numbers in x"),
        ({"x": np.ma.masked_greater(numbers[..., 0], 1)}, ValueError, "masked elements in x"),
        (right + 1j, TypeError, "complex numbers in x"),
        (list(numbers[..., 0]), ValueError, r"chain 0 has the shape \(50\): want a list with one array of \(draws, columns\)"),
        (frame.assign(step="warm"), ValueError, "^chain 0, column step: 'warm': want a number$"),
        (frame.convert_dtypes().replace({"a": {frame.a[3]: pd.NA}}), ValueError, "^chain 0, column a: <NA>: want a number$"),
        ([frame, frame + 1j], ValueError, r"^chain 1, column a: .*j\): want a number$"),
        (list(np.ma.masked_greater(numbers, 1)), ValueError, r"^chain 0, column x\[1\]: None: want a number$"),
        ({"x": numbers.astype(str).astype(object) + "?"}, ValueError, "^array x: want numbers: "),
        (right.astype(str).assign(y=2.0), ValueError, r"^no variable of numbers by chain and draw: there is x \(chain, draw, d\) of <U\d+, y \(\) of float64$"),
        (right.assign(y=right.x.astype(str).astype(object) + "?"), ValueError, "^array y: want numbers"),
        ([[[1.0], [2.0, 3.0]]], ValueError, "^chain 0, draw 1: want a row of 1 numbers$"),
        ([[[1.0, 2.0], [3.0]]], ValueError, "^chain 0, draw 1: want a row of 2 numbers$"),
        ([[{"x": 1.0}, {"x": 2.0}]], ValueError, "^chain 0, draw 0: want a row of 1 numbers$"),
        ({"x": [[1.0, 2.0], [3.0]]}, ValueError, "^array x: want numbers: .*inhomogeneous"),
        ({"": numbers[..., 0]}, ValueError, "^an array without a name"),
        (frame.rename(columns={"a": ""}), ValueError, "^chain 0 has a column without a name"),
        ({"one": frame, "two": frame}, TypeError, "^a DataFrame by the name one: want a list"),
        ([right.x[0]], TypeError, "^chain 0 is of xarray"),
        ({"x": right.x[0]}, ValueError, "^array x has the dimensions draw, d: want chain and draw$"),
        ({"x": np.datetime64("2020-01-01") + np.arange(100).reshape(2, 50)}, TypeError, "^times in x"),
        ({"x": 2**60 + np.arange(100).reshape(2, 50)}, ValueError, r"^whole numbers above 2\*\*53 in x"),
        ({"x": (2**70 + np.arange(100).astype(object)).reshape(2, 50)}, ValueError, r"^whole numbers above 2\*\*53 in x"),
        ([[list(row)] for row in 2**60 + np.arange(1, 3)[:, None]], ValueError, r"^chain 0, column x\[1\]: .*1152921504606846977.*: a float64 has not as many digits"),
        (right.assign(t=(("chain", "draw"), np.full((2, 50), np.datetime64("2020-01-01", "ns")))), TypeError, "^times in t"),
        ([[[2**60 + 1]]], ValueError, r"^chain 0, column x\[1\]: 1152921504606846977: a float64 has not as many digits"),
        ([[[10**400]]], ValueError, r"^chain 0, column x\[1\]: 10*: want a number"),
        (3.0, TypeError, "^draws of the type float: want "),
        (right.drop_vars("x").assign_coords(chain=[0], draw=[0]), ValueError, "no variable of numbers by chain and draw: there is none"),
    ):
        with pytest.raises(error, match=want):
            hambench.judge(draws, reference=right)
    # What a name or a dimension says, its place does not: fields, arrays of xarray, variables and attributes of a Dataset, levels of an index.
    twice = np.random.default_rng(5).normal(size=(2, 50)) + np.array([[0.0], [9.0]])
    fields = [np.rec.fromarrays(twice[::order], names=names) for order, names in ((1, "mu,tau"), (-1, "tau,mu"))]
    assert hambench.judge([fields[0]], reference=[fields[1]]).data["copied"]
    strange = right.rename(x="columns").assign(groups=right.x).assign_attrs(columns="x y")
    same = hambench.judge(strange, reference={"columns": right.x.transpose("d", "draw", "chain"), "groups": right.x})
    assert same.data["draws"]["chains"] == 2 and same.data["copied"] and same.data["compared"] == 4
    with pytest.warns(UserWarning, match="^texts in y: left out$"):
        assert hambench.judge(right.assign(y=right.x.astype(str)), reference=right).data["compared"] == 2
    objects = right.assign(y=right.x.astype(object))
    assert hambench.judge(objects, reference=objects).data["compared"] == 4
    # Names are texts of any kind, an array may have no elements, and no report or error names a file that is gone.
    named = {"#a": numbers[..., 0], 1: numbers[..., 1], "none": numbers[..., :0]}
    frames = [pd.DataFrame({"#a": a, 1: b}) for a, b in zip(numbers[..., 0], numbers[..., 1])]
    judged = hambench.judge(named, reference=frames)
    assert [c["name"] for c in judged.data["columns"]] == ["#a", "1"] and judged.data["copied"] == "draws/chain0.csv"
    with pytest.raises(hambench.HambenchError, match="the reference: reference/chain0.csv, draw 1, column x.1.: NaN"):
        hambench.judge(right, reference={"x": numbers * np.nan})
    exchanged = hambench.judge({"x": numbers[..., 0].T}, reference={"x": np.random.default_rng(2).normal(size=(2, 50))})
    assert exchanged.verdict == "undecided" and "is the array (chain, draw)?" in exchanged.why


def test_frames_and_groups_keep_their_chains(tmp_path):
    numbers = np.random.default_rng(3).normal(size=(2, 3, 400))
    first, last = (xr.Dataset({"x": (("chain", "draw"), n)}) for n in (numbers[:, :2].reshape(2, 800)[:, :400], numbers[:, 2]))
    plain = hambench.judge(first, reference=last)
    frame = first.to_dataframe()  # its index has the chains
    stan = frame.reset_index().rename(columns={"chain": "chain__", "draw": "iter__"})  # as CmdStanPy's draws_pd
    for draws in (frame, frame.rename_axis(["Chain", "draw"]), frame.reset_index(), stan, xr.DataTree.from_dict({"posterior": first}).posterior):
        judged = hambench.judge(draws, reference=last)
        assert judged.data["draws"] == plain.data["draws"] and judged.data["draws"]["chains"] == 2
    # Labels are texts, as in a file of the same table: names, and numbers that float64 does not tell apart.
    for labels in (["cold", "#warm, or so"], [10**17, 10**17 + 1]):
        named = frame.reset_index().drop(columns="draw").assign(chain=np.repeat(labels, 400))
        named.to_csv(tmp_path / "named.csv", index=False, quoting=csv.QUOTE_ALL)
        for draws in (named, str(tmp_path / "named.csv")):
            assert hambench.judge(draws, reference=last).data["draws"] == plain.data["draws"], labels
    twice = first.isel(chain=[0, 0]).to_dataframe()
    twice.index = frame.index
    with pytest.raises(hambench.HambenchError, match="hold the same draws"):
        hambench.judge(twice, reference=last)
    with pytest.raises(ValueError, match="chain 0 has rows by d: want a row a draw"):
        hambench.judge(first.expand_dims(d=2, axis=-1).to_dataframe(), reference=last)
    with pytest.raises(ValueError, match="the dimensions sample: want chain and draw"):
        hambench.judge(first.stack(sample=("chain", "draw")), reference=last)
    with pytest.raises(ValueError, match="an array chain: arrays have their chains by their first dimension"):
        hambench.judge({"chain": numbers[0], "x": numbers[0]}, reference=last)


def test_draws_of_the_program_are_judged_in_every_form(tmp_path):
    (tmp_path / "line.csv").write_text("\n".join(["x,y", *(f"{i % 7},{i % 7 + i % 3}" for i in range(40))]))
    data = {"dataset": str(tmp_path / "line.csv"), "noise": 0.3, "model": "linear"}
    chain = data | {"integrator": "baoab", "h": 0.05, "samples": 40, "chains": 2}
    tree, other = hambench.sample(**chain, arviz=True), hambench.sample(**chain, seed=7, arviz=True)
    want = hambench.judge(tree, **data).data["draws"]
    for draws in (hambench.sample(**chain, predictions=True), tree.predictions, tree.predictions.to_dataset()):
        assert hambench.judge(draws, **data).data["draws"] == want
    # An attribute of these draws has the name dataset.
    assert hambench.judge(tree.posterior.to_dataset(), reference=other).data == hambench.judge(tree, reference=other).data
    with pytest.raises(ValueError, match="no variable f in the predictions: there is theta"):
        hambench.judge(tree.posterior, **data)


def test_a_wrong_value_and_a_wrong_chain_are_seen(folder, tree):
    other = pd.read_csv(folder / "draws.csv")
    other.loc[other.chain == 2, "chain"] = 9  # sorts behind chain 3
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(shaped(other), tree.posterior.theta)
    moved = tree.predictions.f.values.copy()
    moved[2] += 3
    assert az.rhat(xr.DataTree.from_dict({"posterior": xr.Dataset({"f": (("chain", "draw", "row"), moved)})}), method="split").f.min() > 1.2


def test_python_gets_the_chains_of_the_program(tree):
    draws = hambench.sample(dataset="linear", integrator="baoab", batch=8, h=0.02, thin=60, samples=DRAWS, chains=CHAINS)
    np.testing.assert_array_equal(np.array(draws["theta"]), tree.posterior.theta)


def test_targets_have_the_noise_of_the_likelihood_and_its_density(tree):
    for group in ("predictions", "posterior_predictive"):
        noise = (tree[group].y - tree[group].f).values
        n = noise.size  # above 150 000: the false alarms of the limits are below 1e-6
        assert abs(noise.mean()) < 5 * np.sqrt(NOISE / n) and abs(noise.var() / NOISE - 1) < 5 * np.sqrt(2 / n)
    away = tree.posterior_predictive.f - tree.observed_data.y
    np.testing.assert_allclose(tree.log_likelihood.y, -(away**2) / (2 * NOISE) - np.log(2 * np.pi * NOISE) / 2, rtol=1e-9, atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pareto's shape
        assert np.isfinite(az.loo(tree).elpd)
        az.plot_ppc_dist(tree, backend="none")


def test_coordinates_have_the_names_of_a_file(tmp_path):
    rows = [f"{i % 7},{i % 5},{'red' if i % 2 else 'blue'},{['ape', 'bird', 'cat'][i % 3]}" for i in range(90)]
    (tmp_path / "animals.csv").write_text("\n".join(["size,weight,colour,kind", *rows]))
    (tmp_path / "line.csv").write_text("\n".join(["size,weight,colour,y", *(f"{r.rsplit(',', 1)[0]},{i % 11}" for i, r in enumerate(rows))]))
    chain = {"integrator": "baoab", "h": 0.05, "samples": 40, "chains": 2, "arviz": True}
    tree = hambench.sample(dataset=str(tmp_path / "animals.csv"), model="logistic", **chain)
    assert list(tree.predictions.coords["class"].values) == ["ape", "bird", "cat"]
    assert list(tree.constant_data.feature.values) == ["size", "weight", "colour=blue", "colour=red"]
    assert tree.predictions.f.dims == ("chain", "draw", "row", "class") and set(np.unique(tree.posterior_predictive.y)) == {0, 1, 2}
    of_class = tree.posterior_predictive.f.isel({"class": xr.DataArray(tree.observed_data.y.astype(int), dims="row")})
    np.testing.assert_allclose(tree.log_likelihood.y, np.log(of_class), rtol=1e-12)
    assert sorted([*tree.observed_data.row.values, *tree.predictions.row.values]) == list(range(90))
    tree = hambench.sample(dataset=str(tmp_path / "line.csv"), model="linear", noise=0.5, **chain)
    assert list(tree.posterior.theta_dim_0.values) == ["intercept", "size", "weight", "colour=blue", "colour=red"]
    judged = [
        hambench.judge(x, dataset=str(tmp_path / "line.csv"), model="linear", noise=0.5)
        for x in (tree, [pd.DataFrame(c, columns=[f"f{i}" for i in range(9)])[[*(f"f{i}" for i in range(8, -1, -1))]].assign(step="a") for c in tree.predictions.f.values])
    ]
    assert judged[0].accepted and judged[0].data == judged[1].data


def test_without_a_known_likelihood_there_are_no_targets():
    tree = hambench.sample(model="toy", integrator="baoab", h=0.1, samples=5, arviz=True)
    assert set(tree.children) == {"posterior", "sample_stats", "predictions"} and tree.predictions.f.dims == ("chain", "draw", "f_dim_0")
