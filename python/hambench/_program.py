"""Where the program is, and how it is called."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Sequence


class HambenchError(Exception):
    """What went wrong, and what can be changed about it."""


def program() -> str:
    """The path of the program: $HAMBENCH, the one inside the package, or the one on the PATH."""
    named = os.environ.get("HAMBENCH")
    if named:
        if not os.access(named, os.X_OK):
            raise HambenchError(f"$HAMBENCH is {named}, which is no program: set it to the path of hambench, or unset it")
        return named
    name = "hambench.exe" if os.name == "nt" else "hambench"
    inside = pathlib.Path(__file__).parent / "bin" / name
    if inside.is_file():
        return str(inside)
    found = shutil.which(name)
    if found is None:
        raise HambenchError(
            "the program hambench is missing: install the package from its wheel, put the program on the PATH, or set $HAMBENCH to its path"
        )
    return found


def call(arguments: Sequence[str], allowed: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs the program; an exit code that is not allowed is an error with the program's own words."""
    done = subprocess.run([program(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in allowed:
        said = done.stderr.strip().splitlines()
        raise HambenchError(said[-1] if said else f"hambench {arguments[0]} ended with exit code {done.returncode}")
    return done


def main() -> None:
    """The program itself, as a command of the environment in which the package is installed."""
    path = program()
    if os.name == "nt":
        sys.exit(subprocess.run([path, *sys.argv[1:]], check=False).returncode)
    os.execv(path, [path, *sys.argv[1:]])
