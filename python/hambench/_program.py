"""Where the program is, and how it is called."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence


class HambenchError(Exception):
    """What went wrong, and what can be changed about it."""


def program() -> str:
    """The path of the program: $HAMBENCH, the one inside the package, or the one on the PATH."""
    named = os.environ.get("HAMBENCH")
    if named:
        if not os.path.isfile(named) or not os.access(named, os.X_OK):
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


def call(arguments: Sequence[str], allowed: Sequence[int] = ()) -> subprocess.CompletedProcess[str]:
    """Runs the program; an exit code other than 0 is an error with the program's own words, unless it is allowed and there is a report."""
    path = program()
    try:
        # What the program writes is UTF-8 in any locale; a path that it repeats may be no text at all.
        done = subprocess.run([path, *arguments], capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise HambenchError(f"{path} does not run: {error.strerror}") from error
    if done.returncode and not (done.returncode in allowed and done.stdout.strip()):
        said = done.stderr.strip().splitlines()
        raise HambenchError(said[-1] if said else f"hambench {arguments[0]} ended with exit code {done.returncode}")
    return done


@contextlib.contextmanager
def scratch() -> Iterator[pathlib.Path]:
    """A folder of files for the program, while the context lasts; errors name the files without it, since it is gone by then."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield pathlib.Path(folder)
        except HambenchError as error:
            error.args = (str(error).replace(f"{folder}{os.sep}", ""),)
            raise


def main() -> None:
    """The program itself, as a command of the environment in which the package is installed."""
    path = program()
    if os.name == "nt":
        sys.exit(subprocess.run([path, *sys.argv[1:]], check=False).returncode)
    os.execv(path, [path, *sys.argv[1:]])
