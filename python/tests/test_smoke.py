"""What needs the standard library and the program alone: also run by ``go test ./cmd/hambench``."""

import json
import math
import os
import pathlib
import random
import runpy
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest
import unittest.mock
import warnings

import hambench
from hambench import _certify, _program

GAUSSIAN = {"kind": "gaussian", "friction": 1.5, "batches": [{"precision": [[2.0]], "shift": [1.0]}, {"precision": [[1.0]], "shift": [0.0]}]}
SCALAR = {"kind": "scalar", "friction": 1, "batches": [{"stiffness": 1, "center": 0.3, "amplitude": 0.4, "frequency": 1.2, "phase": 0.1}]}


def leapfrog(theta, r, grad, normal, h, friction, noise=1.0):
    theta = [x + h / 2 * v for x, v in zip(theta, r)]
    r = [v - h * g - h * friction * v + noise * math.sqrt(2 * friction * h) * xi for v, g, xi in zip(r, grad(theta), normal)]
    return [x + h / 2 * v for x, v in zip(theta, r)], r


def mean(**changes):
    """A model: the mean of three numbers with the prior N(0, 1). Its posterior is N(1.5/4, 1/4)."""
    y = (0.2, 0.9, 0.4)

    def potential(theta, rows, scale):
        return (scale * sum((y[i] - theta[0]) ** 2 for i in rows) + theta[0] ** 2) / 2

    def gradient(theta, rows, scale):
        return [scale * sum(theta[0] - y[i] for i in rows) + theta[0]]

    return hambench.model(potential, **{"gradient": gradient, "dim": 1, "rows": 3, "backend": "python", **changes})


def study(model):
    """Lists what a study of a model would run, which needs its key."""
    with tempfile.TemporaryDirectory() as folder, _certify.served(model) as command:
        (pathlib.Path(folder) / "study.toml").write_text(
            f"[vary]\nstep = [0.1]\n[fix]\ndata = \"none\"\nmodel = \"\"\"exec:{command}\"\"\"\nintegrator = \"baoab\"\nK = 1\nsamples = 5\n"
        )
        _program.call(["run", f"{folder}/study.toml", "--out", folder, "--dry-run"])


class Smoke(unittest.TestCase):
    def test_errors_are_those_of_the_programs_own_leapfrog(self):
        ours = hambench.sampler(leapfrog, name="ours", position=2, joint=1, backend="python")
        for problem in (GAUSSIAN, SCALAR):
            rows = hambench.certify(ours, problem=problem, scheme="full", steps=[0.2, 0.1], integrator="leapfrog").assert_claims()
            mine, theirs = rows.find(integrator="ours")[0], rows.find(integrator="leapfrog")[0]
            for a, b in zip(mine.observables, theirs.observables, strict=True):
                for x, y, unsure in zip(a.errors, b.errors, a.resolution, strict=True):
                    self.assertLess(abs(x - y), 1e-11 + 2 * (unsure if problem is SCALAR else 0), a.name)

    def test_a_wrong_scale_of_the_noise_is_refuted(self):
        wrong = hambench.sampler(lambda *x: leapfrog(*x, noise=1.01), name="wrong", position=2, joint=1, backend="python")
        with self.assertRaisesRegex(AssertionError, "wrong on given under full: theta.cov: refuted, order 0"):
            hambench.certify(wrong, problem=GAUSSIAN, scheme=["full"]).assert_claims()

    def test_what_a_step_raises_is_the_error(self):
        def broken(theta, r, grad, normal, h, friction):
            raise ValueError("no such layer")

        with self.assertRaisesRegex(hambench.HambenchError, "^step raised ValueError: no such layer$") as caught:
            hambench.certify(hambench.sampler(broken, backend="python"), problem=GAUSSIAN)
        self.assertIsInstance(caught.exception.__cause__, ValueError)
        self.assertEqual(traceback.extract_tb(caught.exception.__cause__.__traceback__)[-1].name, "broken")
        for step, message in ((lambda *_: sys.exit(3), "^step raised SystemExit: 3$"), (lambda theta, r, *_: (theta, [1j for _ in r]), "^step raised TypeError.*complex")):
            with self.assertRaisesRegex(hambench.HambenchError, message):
                hambench.certify(hambench.sampler(step, backend="python"), problem=GAUSSIAN)

    def test_errors_of_the_program_name_the_sampler_not_the_command_behind_it(self):
        with self.assertRaisesRegex(hambench.HambenchError, "^hambench.*: mine: the answer to step has numbers that are not finite, which JSON does not have: a model's potential may be null, a step must be finite$"):
            hambench.certify(hambench.sampler(lambda theta, r, *_: (theta, [math.nan for _ in r]), name="mine", backend="python"), problem=GAUSSIAN)

    def test_calls_leave_nothing_behind(self):
        ours = hambench.sampler(leapfrog, position=2, joint=1, backend="python")
        ports, before = [], threading.enumerate()  # other libraries' readers may have left some
        with unittest.mock.patch.object(_certify.socket, "create_server", side_effect=lambda a, create=socket.create_server: ports.append(create(a)) or ports[-1]):
            for _ in range(5):
                hambench.certify(ours, problem=GAUSSIAN, scheme="full", steps=[0.1])
        self.assertEqual(threading.enumerate(), before)
        self.assertEqual([p.fileno() for p in ports], [-1] * 5)  # closed

    def test_the_relay_ends_by_itself(self):
        with _certify.served(mean()) as command:
            for last in ('{"op":"bye"}\n', ""):  # it is told, or the program has gone
                done = subprocess.run(command, shell=True, input=f'{{"op":"hello","version":1,"data":null}}\n{last}', capture_output=True, text=True, check=False)
                self.assertEqual([done.returncode, done.stderr, len(done.stdout.splitlines())], [0, "", 1])

    def test_a_wrong_return_names_what_to_return(self):
        with self.assertRaisesRegex(hambench.HambenchError, r"return the tuple \(theta, r\)"):
            hambench.certify(hambench.sampler(lambda theta, *_: theta, backend="python"), problem=GAUSSIAN)
        for step, state, message in (
            (lambda theta, r, *_: (theta, r), 1, "^step returned a tuple: with state=1 return theta alone$"),
            (lambda *_: None, 1, r"^step returned NoneType as theta: return the shape \(1,\) that it had$"),
            (lambda theta, r, *_: (theta, [r]), 2, r"^step returned the shape \(1, 1\) as r: return the shape \(1,\) that it had$"),
            (lambda theta, r, kept, *_: (theta, r, (None,)), 3, r"^step returned NoneType as auxiliary\[0\]: return"),
            (lambda theta, r, kept, *_: (theta, r, None), 3, "^step returned NoneType as auxiliary: return a tuple of 1, as state=3 says$"),
        ):
            with self.assertRaisesRegex(hambench.HambenchError, message):
                hambench.certify(hambench.sampler(step, state=state, backend="python"), problem=GAUSSIAN)

    def test_a_backend_that_does_not_exist_is_named(self):
        with self.assertRaisesRegex(hambench.HambenchError, "want one of python, numpy, jax, torch"):
            hambench.sampler(leapfrog, backend="tensorflow")  # type: ignore[arg-type]
        with unittest.mock.patch("importlib.util.find_spec", return_value=None):
            with self.assertRaisesRegex(hambench.HambenchError, "numpy is not installed; install it, or take backend='python'"):
                hambench.sampler(leapfrog)
            hambench.sampler(leapfrog, backend="python")

    def test_a_script_serves_the_program_and_may_print(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "mine.py"
            script.write_text(
                f"import sys\nsys.path[:0] = {[str(pathlib.Path(__file__).parent), *sys.path]!r}\n"
                "import hambench, test_smoke\nprint('before')\n"
                "def step(*x):\n    print('in a step')\n    return test_smoke.leapfrog(*x)\n"
                "if __name__ == '__main__':\n    hambench.serve(hambench.sampler(step, position=2, joint=1, backend='python'))\n"
            )
            with self.assertRaisesRegex(hambench.HambenchError, "not an object in JSON: .before"):
                hambench.certify(f"{sys.executable} {script}", problem=GAUSSIAN, scheme=["full"])
            script.write_text(script.read_text().replace("print('before')\n", ""))
            hambench.certify(f"{sys.executable} {script}", problem=GAUSSIAN, scheme=["full"]).assert_claims()
            # As libraries in C and other programs print; what they read is not a question.
            script.write_text(script.read_text().replace("    print('in a step')\n", "    os.write(1, b'in C'), subprocess.run(['echo', 'a child'], check=True), sys.stdin.read()\n").replace("import sys\n", "import os, subprocess, sys\n"))
            hambench.certify(f"{sys.executable} {script}", problem=GAUSSIAN, scheme=["full"], steps=[0.1]).assert_claims()
            # By hand.
            done = subprocess.run([sys.executable, str(script)], input='hello\n3\n{"op":"step"}\n{"op":"bye"}\n', capture_output=True, encoding="utf-8", check=True)
            answers = [json.loads(line)["error"] for line in done.stdout.splitlines()]
            self.assertEqual([done.stderr, len(answers)], ["", 3])
            self.assertRegex(answers[0], "^no question in JSON: 'hello': hambench asks them, by certify --exec or sample --model 'exec:…'$")
            self.assertRegex(answers[1], "^no question in JSON: '3'")

    def test_the_files_of_a_model_are_those_of_its_folder_that_are_not_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            own = pathlib.Path(folder).resolve() / "own.py"
            own.touch()
            module = type(math)("own")
            module.__file__ = str(own)
            gone = type(math)("gone")
            gone.__file__ = str(own.with_name("gone.py"))
            with unittest.mock.patch.dict(sys.modules, own=module, gone=gone):
                for main in (own.with_name("main.py"), own.parents[-1] / "main.py"):  # beside it, and above the library
                    with unittest.mock.patch.object(sys.modules["__main__"], "__file__", str(main)):
                        files = mean().answer({"op": "hello", "version": 1, "data": None})["files"]
                    self.assertIn(str(own), files)
                    self.assertEqual([f for f in files if "gone" in f or f in (json.__file__, hambench.__file__)], [])

    def test_draws_are_a_dict_of_chains(self):
        draws = hambench.sample(model="toy", integrator="baoab", scheme="replacement", K=2, h=0.4, friction=2, samples=20, chains=2)
        self.assertEqual([len(draws), len(draws["theta"]), len(draws["theta"][0]), len(draws["theta"][0][0])], [1, 2, 20, 1])
        self.assertNotEqual(draws["theta"][0], draws["theta"][1])
        with self.assertRaisesRegex(hambench.HambenchError, "unknown model"):
            hambench.sample(model="toi")
        for settings, message in (({"chains": 0}, "chains=0: want 1 or more"), ({"format": "zarr", "to": "x"}, "format='zarr': sample returns the draws")):
            with self.assertRaisesRegex(ValueError, message):
                hambench.sample(model="toy", **settings)

    def test_differences_of_coupled_chains_come_with_what_they_say_of_the_bias(self):
        chain = {"model": "toy", "integrator": "leapfrog", "scheme": "replacement", "K": 2, "h": 0.4, "friction": 2, "samples": 20}
        with self.assertWarnsRegex(UserWarning, r"means at h = 0\.4 and at half of it differ by"):
            differences = hambench.sample(coupled=True, **chain)
        self.assertEqual([len(differences["theta"]), len(differences["theta"][0])], [1, 20])
        self.assertNotEqual(differences, hambench.sample(**chain))
        self.assertEqual(hambench.sample(coupled=False, **chain), hambench.sample(**chain))
        with self.assertRaisesRegex(hambench.HambenchError, "--chains and --coupled: want one of them"):
            hambench.sample(coupled=True, chains=2, **chain)

    def test_a_problem_is_exported_and_draws_are_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            posterior = hambench.problem("linear", to=f"{folder}/problem")
            self.assertEqual(len(posterior.rows("train")), posterior.description["train_rows"])
            with self.assertRaisesRegex(hambench.HambenchError, "want one of test, train"):
                posterior.rows("training")
            draws = hambench.sample(model="linear", predictions=True, integrator="baoab", scheme="full", K=1, samples=100, chains=2)["f"]
            right = hambench.judge(draws, dataset="linear", out=folder)
            wrong = hambench.judge([[[2 * x for x in row] for row in chain] for chain in draws], dataset="linear", out=folder)
            self.assertTrue(right.accepted, right)
            self.assertFalse(wrong.accepted, wrong)
            self.assertRegex(str(right), r"^accepted\ndraws: 200 draws, effective \d+\nreference: 10000 draws, effective 10000\nrefuses a deviation of normal scores 8 % ")
            self.assertRegex(str(wrong), "^refused: ")
            self.assertEqual(hambench.judge(draws, model="linear", out=folder).data, right.data)
            short = hambench.judge([draws[0][:4]], dataset="linear")
            self.assertRegex(str(short), r"^undecided: 4 draws .*\ndraws: 4 draws, effective –\nreference: 10000 draws, effective –$")
            with self.assertRaisesRegex(hambench.HambenchError, "the draws: draws/chain0.csv and draws/chain1.csv hold the same draws: want each chain once"):
                hambench.judge([draws[0], draws[0]], dataset="linear")
            few = [[row[:3] for row in chain] for chain in draws]
            own = hambench.judge(few[:1], reference=few[1:])
            self.assertTrue(own.verdict != "refused" and own.data["columns"][0]["name"].startswith("x["), own)
            rng = random.Random(1)
            normal = [[[rng.gauss(0, 1) for _ in range(columns)] for _ in range(300)] for columns in (1, 2)]
            self.assertRegex(str(hambench.judge(normal[:1], reference=normal[1:])), r"^accepted in 1 of 2 columns\n")
            with self.assertRaisesRegex(ValueError, "give either a reference, or a dataset or model"):
                hambench.judge(draws)
            for chains in ([], draws[0], draws[0][0], [draws], [[]], [[[]]], 3 * [[1.0]]):
                with self.assertRaisesRegex(ValueError, "^(chain 0 has the shape .*: want|no chains: give) a list with one [^\n]*$"):
                    hambench.judge(chains, dataset="linear")
            with self.assertRaisesRegex(hambench.HambenchError, "no column f1"):
                hambench.judge([[[1.0], [2.0]]], dataset="linear", out=folder)

    def test_a_prediction_stands_where_no_error_is_known(self):
        rows = hambench.certify(hambench.sampler(leapfrog, position=2, joint=1, backend="python"), problem="crossing", scheme="reshuffle", steps=[0.02, 0.01])
        self.assertGreater(rows[0]["theta1^2"].predicted, 0)
        self.assertRegex(str(rows), r"theta1\^2: prediction alone \(claimed: order 2; predicted: [\d.]+ h\^2\)")

    def test_draws_of_a_regression_in_a_file_are_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder) / "line.csv"
            data.write_text("x,z,y\n" + "".join(f"{i % 7},{i % 5},{0.3 * (i % 7) - 0.2 * (i % 5) + 0.1 * (i % 3)}\n" for i in range(60)))
            with self.assertRaisesRegex(hambench.HambenchError, "a regression needs --noise V"):
                hambench.problem(str(data), to=f"{folder}/problem")
            self.assertEqual(hambench.problem(str(data), to=f"{folder}/problem", model="linear", noise=0.2).description["features"], 2)
            draws = hambench.sample(dataset=str(data), model="linear", noise=0.2, predictions=True, integrator="baoab", h=0.1, samples=100, chains=2)["f"]
            self.assertTrue(hambench.judge(draws, dataset=str(data), model="linear", noise=0.2, precision="float64").accepted)

    def test_a_model_gives_the_draws_of_the_programs_own(self):
        chain = {"dataset": "logistic", "integrator": "baoab", "h": 0.1, "K": 4, "samples": 10, "precision": "float64"}
        script = pathlib.Path(__file__).parent.parent / "examples" / "plain_model.py"
        ours = hambench.sample(model=f"exec:{sys.executable} {script}", predictions=True, **chain)
        theirs = hambench.sample(model="logistic", predictions=True, **chain)
        for a, b in zip(ours["f"][0], theirs["f"][0], strict=True):
            self.assertLess(max(abs(x - y) for x, y in zip(a, b, strict=True)), 1e-6)  # the warm-up's curvature is by differences

    def test_a_model_of_this_process(self):
        draws = hambench.sample(model=mean(), integrator="baoab", h=0.3, friction=2, samples=400)["theta"]
        self.assertEqual([len(draws), len(draws[0]), len(draws[0][0])], [1, 400, 1])
        exact, spread = 1.5 / 4, 4**-0.5
        self.assertLess(abs(sum(x for (x,) in draws[0]) / 400 - exact), 5 * spread * math.sqrt(3 / 400))

    def test_chains_of_a_model_that_keeps_something_are_those_of_their_seeds(self):
        weights = [0.0]

        def gradient(theta, rows, scale):
            weights[0] = theta[0]
            time.sleep(1e-4)  # other threads run
            return [scale * sum(weights[0] - (1, 2, 3)[i] for i in rows) + weights[0]]

        def potential(theta, rows, scale):
            weights[0] = theta[0]
            return (scale * sum(((1, 2, 3)[i] - weights[0]) ** 2 for i in rows) + weights[0] ** 2) / 2

        model = hambench.model(potential, gradient=gradient, dim=1, rows=3, backend="python")
        chain = {"model": model, "integrator": "baoab", "h": 0.1, "K": 1, "samples": 20, "thin": 5, "burn": 10}
        together = hambench.sample(chains=2, **chain)["theta"]
        self.assertEqual(together, [hambench.sample(seed=1 + c, **chain)["theta"][0] for c in range(2)])

    def test_what_is_wrong_with_a_model_is_the_error(self):
        def raises(theta, rows, scale):
            raise ValueError("no such layer")

        for changes, message in (
            ({"gradient": raises}, "gradient raised ValueError: no such layer"),
            ({"gradient": lambda theta, rows, scale: [0.0, 0.0]}, r"^gradient of the model potential returned the shape \(2,\): return the shape \(1,\)$"),
            ({"gradient": lambda theta, rows, scale: None}, r"^gradient of the model potential returned NoneType: return the shape \(1,\)$"),
            ({"gradient": lambda theta, rows, scale: [[0.0]]}, r"^gradient of the model potential returned the shape \(1, 1\): return"),
            ({"predict": lambda theta: None, "outputs": 2}, r"^predict of the model potential returned NoneType: return the shape \(2,\)$"),
            ({"dim": 2.5}, "^dim=2.5: want a whole number$"),
            ({"gradient": lambda theta, rows, scale: [theta[0]]}, "gradient is not that of the potential"),
            ({"gradient": lambda theta, rows, scale: [math.exp(1e9)]}, "not finite at a random position"),
            ({"gradient": None}, "derives no gradient: give gradient="),
            ({"outputs": 3}, "outputs=3 without predict"),
            ({"backend": "tensorflow"}, "want one of python, numpy, jax, torch"),
            ({"files": ["no-such-file"]}, "no-such-file"),
        ):
            with self.subTest(message), self.assertRaisesRegex(hambench.HambenchError, message):
                study(mean(**changes)) if "files" in changes else hambench.sample(model=mean(**changes), h=0.1, samples=2, predictions="predict" in changes)
        with self.assertRaisesRegex(hambench.HambenchError, "^3: want a sampler of hambench.sampler, or a command$"):
            hambench.certify(3)
        with self.assertRaisesRegex(ValueError, "^timeout='2m': want a number of seconds above 0$"):
            hambench.certify("false", timeout="2m")
        with self.assertRaisesRegex(hambench.HambenchError, "this is a model, to be sampled"):
            hambench.certify(mean(), problem=GAUSSIAN)  # type: ignore[arg-type]
        script = pathlib.Path(__file__).parent.parent / "examples" / "plain_model.py"
        with self.assertRaisesRegex(hambench.HambenchError, "this model wants data: name a data set"):
            hambench.sample(model=f"exec:{sys.executable} {script}")

    def test_a_chain_on_a_model_may_diverge(self):
        with self.assertRaisesRegex(hambench.HambenchError, "chain diverged"):
            hambench.sample(model=mean(), integrator="leapfrog", h=100, samples=1000)

    def test_notes_of_the_program_are_warnings_of_the_callers_line(self):
        ours = hambench.sampler(leapfrog, name="ours", position=2, joint=1, backend="python")
        batches = [{"precision": [[1.0]], "shift": [float(k)]} for k in range(10)]
        for call, notes in (
            (lambda: hambench.sample(model="toy", integrator="baoab", friction=1, samples=2), ["--h 0.25, a quarter of the largest stable step, about 1"]),
            (lambda: hambench.sample(dataset="linear", batch=100, h=0.01, samples=2), ["--batch 100 of 128 rows is rounded to one batch of all"]),
            (lambda: hambench.sample(model="toy", integrator="baoab", h=0.1, samples=2), []),
            (lambda: hambench.certify(ours, problem=GAUSSIAN | {"batches": batches}, scheme=["full", "symmetric"], steps=[0.1]), ["predictions alone: .*symmetric"]),
            (lambda: hambench.certify(ours, problem=GAUSSIAN, scheme="full", steps=[0.1]), []),
        ):
            with self.subTest(notes), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call()
                self.assertEqual([w.filename for w in caught], [__file__] * len(notes))
                for w, note in zip(caught, notes):
                    self.assertRegex(str(w.message), f"^{note}")

    def test_an_empty_command_and_a_bare_step_are_refused(self):
        for wrong, message in (("", "^the command is empty"), (" ", "^the command is empty"), (leapfrog, "^leapfrog is a function: wrap the step first: hambench.sampler")):
            with self.assertRaisesRegex(hambench.HambenchError, message):
                hambench.certify(wrong, problem=GAUSSIAN, scheme="full", steps=[0.1])
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "mine.py"
            script.write_text(f"import sys\nsys.path[:0] = {[str(pathlib.Path(__file__).parent), *sys.path]!r}\nimport hambench, test_smoke\nhambench.serve(test_smoke.leapfrog)\n")
            with self.assertRaisesRegex(hambench.HambenchError, r"wrap a step first: hambench.sampler\(leapfrog, …\)"):
                hambench.certify(f"{sys.executable} {script}", problem=GAUSSIAN)

    def test_columns_that_are_not_compared_are_printed(self):
        rng = random.Random(1)

        def chain(*names):
            return {name: [[rng.gauss(0, 1) for _ in range(300)]] for name in names}

        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("arrays by name need numpy")
        said = str(hambench.judge(chain("a", "b"), reference=chain("a", "c", "d")))
        self.assertIn("\nonly in the draws, and not compared: b\nonly in the reference, and not compared: c, d\n", said)

    def test_another_program_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "other"
            for script, message in (
                ("true", "other did not answer as hambench .* is it of the same version"),
                ("echo hello", "other did not answer as hambench .* is it of the same version"),
                ("echo '[{\"problem\":1}]'", "other did not answer as hambench .* is it of the same version"),
                ("kill -SEGV $$", "^hambench .* was ended by the signal SIGSEGV$"),
            ):
                other.write_text(f"#!/bin/sh\n{script}\n")
                other.chmod(0o755)
                for call in (
                    lambda: hambench.sample(model="toy", samples=2),
                    lambda: hambench.certify("x", problem=GAUSSIAN),
                    lambda: hambench.judge([[[1.0], [2.0]]], reference=[[[1.0], [2.0]]]),
                ):
                    with self.subTest(script), unittest.mock.patch.dict(os.environ, HAMBENCH=str(other)):
                        with self.assertRaisesRegex(hambench.HambenchError, message):
                            call()

    def test_a_named_program_is_that_of_this_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "hambench"
            other.write_text("")
            other.chmod(0o755)
            before = os.getcwd()
            try:
                os.chdir(folder)
                with unittest.mock.patch.dict(os.environ, HAMBENCH="hambench"):
                    self.assertEqual(hambench.program(), os.path.join(os.getcwd(), "hambench"))
            finally:
                os.chdir(before)

    @unittest.skipIf(os.name == "nt", "signals")
    def test_an_interrupted_call_leaves_no_process(self):
        """The program is asked to end, so that the command of a model ends, too."""
        with tempfile.TemporaryDirectory() as folder:
            number = pathlib.Path(folder) / "number"
            command = f"exec:echo $$ > {shlex.quote(str(number))}; exec sleep 100"

            def interrupt():
                while not (number.is_file() and number.read_text().strip()):
                    time.sleep(0.05)
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

            before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have its background jobs ignore it
            self.addCleanup(signal.signal, signal.SIGINT, before)
            waiting = threading.Thread(target=interrupt)
            waiting.start()
            with self.assertRaises(KeyboardInterrupt):
                hambench.sample(model=command, samples=2)
            waiting.join()
            with self.assertRaises(ProcessLookupError):
                for _ in range(100):
                    os.kill(int(number.read_text()), 0)
                    time.sleep(0.05)

    def test_rows_are_printed_sliced_and_found(self):
        ours = hambench.sampler(leapfrog, name="ours", position=2, joint=1, backend="python")
        rows = hambench.certify(ours, problem=GAUSSIAN, scheme="full", steps=[0.2, 0.1], integrator="leapfrog")
        self.assertRegex(repr(rows), "^2 rows\nours on given under full: theta.mean: ")
        self.assertEqual(rows[1:].assert_claims()[0].integrator, "leapfrog")
        self.assertEqual(rows.order("joint.cov", scheme="full", problem="given", integrator="ours"), 1)
        with self.assertRaisesRegex(hambench.HambenchError, "0 rows of theirs on given under full: want one; there are ours on given"):
            rows.order("joint.cov", scheme="full", problem="given", integrator="theirs")

    def test_changed_settings_are_checked_as_new_ones(self):
        ours = hambench.sampler(leapfrog, name="ours", position=2, joint=1, backend="python")
        self.assertEqual([ours(position=1).claims, ours(state=1).claims, ours.claims], [{"position": 1, "joint": 1}, {"position": 2}, {"position": 2, "joint": 1}])
        for changes, message in (({"backend": "tensorflow"}, "want one of python"), ({"batched": True}, "batched=True with backend"), ({"normals": 1.5}, "normals=1.5: want a whole number")):
            with self.assertRaisesRegex(hambench.HambenchError, message):
                ours(**changes)

    def test_a_timeout_of_any_size_is_a_number_of_seconds(self):
        ours = hambench.sampler(leapfrog, name="ours", position=2, joint=1, backend="python")
        with self.assertRaisesRegex(hambench.HambenchError, "no answer to hello within 10µs"):
            hambench.certify(ours, problem=GAUSSIAN, timeout=1e-5)
        for wrong in (None, 0, math.inf, math.nan):
            with self.assertRaisesRegex(ValueError, f"timeout={wrong}: want a number of seconds above 0"):
                hambench.certify(ours, problem=GAUSSIAN, timeout=wrong)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "mine.json"
            file.write_text(json.dumps(GAUSSIAN))
            self.assertEqual(hambench.certify(ours, problem=file, scheme="full", steps=[0.1])[0].problem, "mine")

    def test_a_function_of_data_is_a_model(self):
        logistic = runpy.run_path(str(pathlib.Path(__file__).parent.parent / "examples" / "plain_model.py"))["logistic"]
        chain = {"dataset": "logistic", "K": 4, "h": 0.1, "samples": 2, "thin": 2, "burn": 2, "chains": 2}
        made = []
        draws = hambench.sample(model=lambda data: made.append(data["name"]) or logistic(data), **chain)["theta"]
        self.assertEqual([made, draws], [["logistic"], hambench.sample(model=logistic, **chain)["theta"]])
        with self.assertRaisesRegex(hambench.HambenchError, r"^nothing returned NoneType: return hambench.model\(…\)$"):

            def nothing(data):
                logistic(data)

            hambench.sample(model=nothing, **chain)
        with self.assertRaisesRegex(hambench.HambenchError, "^this is a sampler, to be certified"):
            hambench.sample(model=hambench.sampler(leapfrog, backend="python"), samples=2)  # type: ignore[arg-type]

    def test_a_missing_program_says_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "hambench"
            other.write_text("of another machine")
            other.chmod(0o755)
            for named, message in (("/no/such", "set it to the path of hambench"), (folder, "set it to the path of hambench"), (str(other), "hambench does not run: ")):
                with unittest.mock.patch.dict(os.environ, HAMBENCH=named), self.assertRaisesRegex(hambench.HambenchError, message):
                    hambench.sample(model="toy")

    def test_a_problem_may_be_longer_than_a_word_of_a_command(self):
        batches = [{"precision": [[2 / 3 + k / 1e9]], "shift": [1 / 3]} for k in range(3000)]
        rows = hambench.certify(hambench.sampler(leapfrog, position=2, backend="python"), problem=GAUSSIAN | {"batches": batches}, scheme="full", steps=[0.2, 0.1])
        self.assertEqual(rows[0].problem, "given")
        with self.assertRaisesRegex(hambench.HambenchError, "problem given: batch 1"):
            hambench.certify("true", problem=GAUSSIAN | {"batches": [{"precision": [[1.0]]}]})

    def test_no_text_is_in_the_encoding_of_the_locale(self):
        code = """import hambench, sys
hambench.problem("toy", to=sys.argv[1]).rows("train")
hambench.judge([[[x] for x in range(30)]], reference=[[[x * x] for x in range(40)]])"""
        with tempfile.TemporaryDirectory() as folder:
            flags = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
            subprocess.run([sys.executable, *flags, "-c", code, folder], env=os.environ | {"PYTHONPATH": ":".join(sys.path)}, check=True)


if __name__ == "__main__":
    unittest.main()
