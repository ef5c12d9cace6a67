"""Stand-ins for the CUDA libraries that PyTorch's wheel is linked against.

The wheel for Linux wants gigabytes of them before it loads, also where there
is no GPU and nothing calls into them. So the loader is given empty libraries
with the names, versions and symbols that it asks for. What runs on the
processor is PyTorch's own and stays as it is.

usage: stubs.py SITE_PACKAGES
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

Symbols = dict[str, set[str]]  # by version


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def missing(libraries: list[Path], present: set[str]) -> set[str]:
    """CUDA libraries that are linked against and not there."""
    needed: set[str] = set()
    for path in libraries:
        needed |= set(re.findall(r"\(NEEDED\).*\[(lib(?:cu|nv|nccl).+?)\]", output("readelf", "-dW", path)))
    return needed - present


def owners(path: Path) -> dict[str, str]:
    """Which library a library takes each symbol version from."""
    found, library = {}, ""
    for line in output("readelf", "-VW", path).splitlines():
        if match := re.search(r"File: (\S+)", line):
            library = match[1]
        elif match := re.search(r"Name: (\S+)", line):
            found[match[1]] = library
    return found


def wanted(libraries: list[Path]) -> dict[str, Symbols]:
    """Undefined symbols by library; those without a version under ""."""
    found: dict[str, Symbols] = defaultdict(lambda: defaultdict(set))
    for path in libraries:
        owner = owners(path)
        for line in output("nm", "-D", "--undefined-only", path).splitlines():
            name, _, version = line.split()[-1].partition("@")
            version = version.lstrip("@")
            if version or re.match("cu|nv|nccl", name):
                found[owner.get(version, "")][version].add(name)
    return found


def build(target: Path, symbols: Symbols) -> None:
    source = "".join(f"void {name}(void) {{}}\n" for names in symbols.values() for name in sorted(names))
    versions = "".join(
        f"{version} {{ global: {'; '.join(sorted(names))}; }};\n" for version, names in symbols.items() if version
    )
    script = target.with_suffix(".map")
    script.write_text(versions)
    options = [f"-Wl,--version-script={script}"] if versions else []
    command = ["gcc", "-shared", "-fPIC", *options, f"-Wl,-soname,{target.name}", "-x", "c", "-", "-o", target]
    subprocess.run(command, input=source, text=True, check=True)
    script.unlink()


def main() -> None:
    site = Path(sys.argv[1])
    folder = site / "torch" / "lib"
    libraries = sorted(folder.glob("lib*.so*"))
    present = {p.name for p in [*folder.iterdir(), *site.glob("nvidia/*/lib/*")]}
    found = wanted(libraries)
    for name in sorted(missing(libraries, present)):
        symbols = found.get(name, {})
        if not symbols:  # its symbols have no versions: any library may define them
            prefix = re.match(r"lib(\w+)", name)[1].lower()
            symbols = {"": {s for s in found[""][""] if s.lower().startswith(prefix)}}
        build(folder / name, symbols)


if __name__ == "__main__":
    main()
