"""Builds a wheel with the program inside, by Go and the standard library: ``make wheel``.

For another platform set GOOS and GOARCH, as for ``go build``.
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator

PYTHON = pathlib.Path(__file__).parent
ROOT = PYTHON.parent

# The program is linked statically, so that any Linux will do; Go's own limits are stated for the others.
TAGS = {
    ("linux", "amd64"): "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    ("linux", "arm64"): "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
    ("windows", "amd64"): "win_amd64",
    ("windows", "arm64"): "win_arm64",
}


def build(folder: pathlib.Path) -> pathlib.Path:
    go = os.environ.get("GO", "go")
    env = {**os.environ, "CGO_ENABLED": "0"}
    target = json.loads(subprocess.run([go, "env", "-json", "GOOS", "GOARCH"], env=env, cwd=ROOT, capture_output=True, check=True).stdout)
    platform = (target["GOOS"], target["GOARCH"])
    if platform not in TAGS:
        sys.exit(f"wheel: no tag for {'/'.join(platform)}: want one of {', '.join('/'.join(p) for p in TAGS)}")
    folder.mkdir(parents=True, exist_ok=True)
    name = "hambench.exe" if platform[0] == "windows" else "hambench"
    program = folder / name
    package = said(go, "list", "./bench/sweep")
    flags = f"-s -w -X {package}.linked={commit()}"
    subprocess.run([go, "build", "-trimpath", "-buildvcs=false", f"-ldflags={flags}", "-o", str(program.resolve()), "./cmd/hambench"], env=env, cwd=ROOT, check=True)

    version = re.search(r'__version__ = "(.*)"', (PYTHON / "hambench" / "__init__.py").read_text(encoding="utf-8"))[1]
    info = f"hambench-{version}.dist-info"
    files = {f"hambench/{p.name}": p.read_bytes() for p in sorted((PYTHON / "hambench").iterdir()) if p.is_file()}
    files[f"hambench/bin/{name}"] = program.read_bytes()
    program.unlink()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/licenses/licences.md"] = (ROOT / "docs" / "licences.md").read_bytes()
    files |= {f"{info}/licenses/{name}": text for name, text in notices(go, env)}
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: hambench\nVersion: {version}\nSummary: Exact orders of stochastic Hamiltonian samplers, also of those written in Python\n"
        f"Requires-Python: >=3.10\nDescription-Content-Type: text/markdown\n\n{(ROOT / 'docs' / 'python.md').read_text(encoding='utf-8')}"
    ).encode()
    files[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: hambench\nRoot-Is-Purelib: false\n" + "".join(f"Tag: py3-none-{t}\n" for t in TAGS[platform].split("."))).encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nhambench = hambench._program:main\n"

    wheel = folder / f"hambench-{version}-py3-none-{TAGS[platform]}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")
            write(archive, path, data, executable=path.startswith("hambench/bin/"))
        write(archive, f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]).encode())
    return wheel


def notices(go: str, env: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """The licences and notices of what is linked into the program, Go's own library among it: they have to go with a binary."""
    form = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}"
    linked = subprocess.run([go, "list", "-deps", "-f", form, "./cmd/hambench"], env=env, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    modules = [line.split("\t") for line in sorted(set(linked.splitlines())) if line]
    for path, folder in [*modules, ["go", said(go, "env", "GOROOT")]]:
        for place in ("", "licenses", "THIRD_PARTY_LICENSES"):
            for p in sorted((pathlib.Path(folder) / place).glob("*")):
                if p.is_file() and p.suffix != ".go" and (place or re.match("(?i)licen[cs]e|copying|notice|patents", p.name)):
                    yield str(pathlib.PurePosixPath(path, place, p.name)), p.read_bytes()


def said(*words: str) -> str:
    """What a command prints; empty if it is not there or fails."""
    try:
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def commit() -> str:
    """The commit that the program is built from, with "+changes" behind it if there are any; empty where git does not say."""
    # An archive inside another repository has not that one's commit.
    head = said("git", "ls-files", "--error-unmatch", "go.mod") and said("git", "rev-parse", "HEAD")
    return f"{head}+changes" if head and said("git", "status", "--porcelain", "--untracked-files=no") else head


def write(archive: zipfile.ZipFile, path: str, data: bytes, executable: bool = False) -> None:
    """Writes a file with a fixed date, so that equal contents make equal wheels."""
    entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


if __name__ == "__main__":
    print(build(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "bin" / "wheel")))
