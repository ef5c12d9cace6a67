"""Tests of what the driver decides: python3 -m unittest run_test."""

import ctypes
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import run


class Answers:
    """A worker whose answers are given."""

    def __init__(self, **answers: float):
        self.name, self.answers = "peer", answers

    def ask(self, request: str) -> float:
        return self.answers[request.split()[0]]


def result(worker: str, kind: str, *times: float) -> run.Result:
    r = run.Result(run.Row(worker, worker, kind))
    for size, microseconds in zip(run.SIZES, times):
        r.add(size, microseconds)
    return r


class CheckTest(unittest.TestCase):
    def test_agreement_passes(self) -> None:
        run.check(Answers(check=2e-6, heat=1.02))
        run.check(Answers(check=2e-6, heat=float("nan")))  # hides its momentum

    def test_disagreement_is_a_failure(self) -> None:
        for wrong in 2e-4, float("nan"), float("inf"):
            with self.assertRaisesRegex(run.Failure, "peer: gradient at B = 8 differs"):
                run.check(Answers(check=wrong, heat=1))

    def test_forgotten_noise_is_a_failure(self) -> None:
        with self.assertRaisesRegex(run.Failure, "mean squared momentum 0.200"):
            run.check(Answers(check=2e-6, heat=0.2))


class WidestMKLTest(unittest.TestCase):
    def test_only_other_makers_need_the_library(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.object(run, "processor", return_value="GenuineIntel"):
                self.assertEqual(run.widest_mkl(Path(folder)), {})
            with mock.patch.object(run, "processor", return_value="AuthenticAMD"):
                env = run.widest_mkl(Path(folder))
            says = ctypes.CDLL(env["LD_PRELOAD"]).mkl_serv_intel_cpu_true
            self.assertEqual(says(), 1)


class PublishedTest(unittest.TestCase):
    def test_a_sentence_states_our_time_and_theirs(self) -> None:
        class Ours(Answers):
            def close(self) -> None:
                self.closed = True

        worker = Ours(check=2e-6, heat=1.0, time=50.0)
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(run, "call", return_value="{}"),
            mock.patch.object(run, "start", return_value=worker),
        ):
            path = Path(folder)
            line = run.published(path, run.Row("ours", "hambench, avx2, float32", "ours"), path / "p", 2, path)
        self.assertIn("50 µs a step (hambench, avx2, float32), so that 60 000 steps, at two gradients each, take 6 s", line)
        self.assertIn("235 to 246 s for ten chains", line)
        self.assertTrue(worker.closed)


class WishesTest(unittest.TestCase):
    def test_bad_input_is_refused(self) -> None:
        for name, value in ("PEERS_ROUNDS", "0"), ("PEERS_ROUNDS", "many"), ("PEERS_CLOCK", "sun"):
            with self.assertRaisesRegex(run.BadInput, f"{name}={value}: want"):
                run.Wishes.read({name: value})

    def test_the_first_row_is_always_there(self) -> None:
        wishes = run.Wishes.read({"PEERS_ONLY": "torch-eager"})
        rows = [run.Row("ours", "ours", "ours"), *run.PEERS]
        self.assertEqual([r.worker for r in wishes.choose(rows)], ["ours", "torch-eager"])
        with self.assertRaisesRegex(run.BadInput, "unknown row 'torch-eager'"):
            wishes.choose(rows[:1])


class TableTest(unittest.TestCase):
    def setUp(self) -> None:
        self.results = [
            result("ours", "ours", 10, 20, 50, 160),
            result("eager", "eager", 250, 260, 300, 480),
            result("scan", "peer", 50, 60, 100, 400),
            result("vmap", "peer", 35, 70, 120, 500),
        ]

    def test_ratios(self) -> None:
        self.assertIn("| vmap | 35.0 | 70.0 | 120 | 500 | 3.5 | 3.5 | 2.4 | 3.1 |", run.table(self.results))

    def test_goals_are_judged_against_the_fastest(self) -> None:
        line = run.verdict(self.results)
        self.assertIn("PyTorch eager, B = 8: 25.0x (eager), goal 20x met", line)
        self.assertIn("PyTorch eager, B = 455: 3.0x (eager), goal 3.5x NOT met", line)
        self.assertIn("fastest peer, B = 8: 3.5x (vmap), goal 3.5x met", line)
        self.assertIn("fastest peer, B = 455: 2.5x (scan), goal 1.8x met", line)

    def test_the_best_time_counts(self) -> None:
        self.results[0].add(8, 9)
        self.results[0].add(8, 11)
        self.assertEqual(self.results[0].times[8], 9)


if __name__ == "__main__":
    unittest.main()
