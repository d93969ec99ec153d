"""Puts what each system's job has made into one folder for a release: `python packaging/release.py TAG FOLDER SYSTEM=FOLDER ...`.

Refuses files that are not as they were when their job summed them up, a tag that is not
the source's version, and a system that made nothing.
"""

import hashlib
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUMS = "SHA256SUMS"


def version() -> str:
    found = re.search(r'__version__ = "(.+)"', (ROOT / "desktop" / "tooltray" / "__init__.py").read_text())
    assert found
    return found[1]


def gather(tag: str, target: Path, systems: dict[str, Path]) -> list[Path]:
    """Copies all files and writes their checksums.

    Raises:
        ValueError: they may not be released; says why.
    """
    if tag != f"v{version()}":
        raise ValueError(f"the tag is {tag}, but the version of the source is {version()}")
    target.mkdir(parents=True)
    for system, folder in systems.items():
        for file in checked(folder):
            put(file, target / name_in_release(file, system))
    (target / SUMS).write_text("".join(f"{digest(file)}  {file.name}\n" for file in sorted(target.iterdir())))
    return sorted(target.iterdir())


def checked(folder: Path) -> list[Path]:
    """The files that a job has summed up, if they are what it summed up."""
    lines = (folder / SUMS).read_text().splitlines()
    expected = {folder / line[66:]: line[:64] for line in lines}
    if not expected:
        raise ValueError(f"nothing was made in {folder}")
    for file, sum in expected.items():
        if digest(file) != sum:
            raise ValueError(f"{file} is not what was built")
    return sorted(expected)


def name_in_release(file: Path, system: str) -> str:
    """Lists of parts have the same name on each system."""
    return file.name.replace(".cdx.json", f"-{system}.cdx.json")


def put(file: Path, target: Path) -> None:
    if target.exists():
        raise ValueError(f"two systems have made {target.name}")
    shutil.copyfile(file, target)


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def main() -> int:
    tag, target, *systems = sys.argv[1:]
    try:
        files = gather(tag, Path(target), {system: Path(folder) for system, _, folder in (each.partition("=") for each in systems)})
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.writelines(f"{file.stat().st_size / 1e6:7.1f} MB  {file.name}\n" for file in files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
