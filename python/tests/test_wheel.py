"""The wheel, installed into a fresh environment: the program is inside, and the README's example runs."""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

import hambench

ROOT = pathlib.Path(__file__).parent.parent.parent


def test_the_wheel_in_a_fresh_environment(tmp_path):
    environment = {k: v for k, v in os.environ.items() if k not in ("HAMBENCH", "PYTHONPATH")}

    def run(*words, **settings):
        return subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True, **settings).stdout

    wheel = run(sys.executable, str(ROOT / "python" / "wheel.py"), str(tmp_path / "wheel")).strip()
    inside = zipfile.ZipFile(wheel).namelist()  # what is linked into the program goes with its licence
    for licence in ("go/LICENSE", "github.com/spf13/cobra/LICENSE.txt", "gonum.org/v1/gonum/LICENSE"):
        assert any(name.endswith(f"licenses/{licence}") for name in inside), licence
    run(sys.executable, "-m", "venv", "fresh")
    folder = tmp_path / "fresh" / ("Scripts" if os.name == "nt" else "bin")
    run(str(folder / "pip"), "install", "-q", "--no-deps", "--no-index", wheel)
    version = run(str(folder / "hambench"), "--version")
    here = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert version.startswith(f"hambench {hambench.__version__}, commit {here.stdout.strip() or 'unknown'}")
    [example] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert "confirmed" in run(str(folder / "python"), "-c", example)
    assert "program" not in run(str(folder / "pip"), "check")
    environment["PATH"] = ""  # the one inside the package
    assert "site-packages" in run(str(folder / "python"), "-c", "import hambench; print(hambench.program())")
