"""Where the program is, and how it is called."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence


class HambenchError(Exception):
    """What went wrong, and what can be changed about it."""


def program() -> str:
    """The path of the program: $HAMBENCH, the one inside the package, or the one on the PATH."""
    named = os.environ.get("HAMBENCH")
    if named:
        if not os.path.isfile(named) or not os.access(named, os.X_OK):
            raise HambenchError(f"$HAMBENCH is {named}, which is no program: set it to the path of hambench, or unset it")
        return os.path.abspath(named)  # a name without a slash is one of this folder, not of the PATH
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


_PATIENCE = 5.0  # seconds, for the program to end what it has started


def call(arguments: Sequence[str], allowed: Sequence[int] = ()) -> str:
    """Runs the program and returns what it prints. Its notes are warnings of the line outside the package that asked for it.

    An exit code other than 0 is an error with the program's own words, unless it is allowed and there is a report.
    """
    path = program()
    try:
        # What the program writes is UTF-8 in any locale; a path that it repeats may be no text at all.
        running = subprocess.Popen([path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    except OSError as error:
        raise HambenchError(f"{path} does not run: {error.strerror}") from error
    with running:
        try:
            out, said = running.communicate()
        except BaseException:  # Ctrl-C, which this process may get alone
            running.terminate()  # and not kill: it ends the processes of --exec
            try:
                running.communicate(timeout=_PATIENCE)
            except BaseException:  # that time is over, or Ctrl-C once more
                running.kill()
            raise
    code = running.returncode
    if code < 0:
        name = next((s.name for s in signal.Signals if s == -code), str(-code))
        raise HambenchError(f"hambench {arguments[0]} was ended by the signal {name}")
    if code and not (code in allowed and out.strip()):
        lines = said.strip().splitlines()
        raise HambenchError(lines[-1] if lines else f"hambench {arguments[0]} ended with exit code {code}")
    for line in said.splitlines():
        if line.startswith("note: "):
            warnings.warn(line.removeprefix("note: "), stacklevel=_outside())
    return out


def _outside() -> int:
    """The stacklevel, seen from the caller, of the line outside the package."""
    folder, level, frame = str(pathlib.Path(__file__).parent), 0, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == folder:
        level, frame = level + 1, frame.f_back
    return level + 1


@contextlib.contextmanager
def understood() -> Iterator[None]:
    """Has what the program prints read as this version does; the program may be another one."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        import hambench

        raise HambenchError(f"{program()} did not answer as hambench {hambench.__version__} does: is it of the same version?") from error


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
