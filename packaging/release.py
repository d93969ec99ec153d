"""Puts what each system's job has made into one folder for a release: `python packaging/release.py TAG FOLDER SYSTEM=FOLDER ...`.

Refuses files that are not as they were when their job summed them up, a tag that is not
the source's version, and a system that made nothing. Without systems it sums up the folder once more, after its files were signed.

Beside the checksums it writes releases.json, the list of releases that Tooltray reads (docs/releasing.md).
"""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUMS, LIST = "SHA256SUMS", "releases.json"
EARLIER = ROOT / "packaging" / LIST  # the releases until now, with those that were withdrawn; the next ones are put before them
CHANGELOG = ROOT / "CHANGELOG.md"
MOST_RELEASES, MOST_CHANGES, LONGEST_CHANGE = 50, 6, 200  # Tooltray reads 256 KiB, and 8 lines of 200 characters


def version() -> str:
    found = re.search(r'__version__ = "(.+)"', (ROOT / "desktop" / "tooltray" / "__init__.py").read_text())
    assert found
    return found[1]


def gather(tag: str, target: Path, systems: dict[str, Path]) -> list[Path]:
    """Copies all files and writes their checksums; without systems only writes the checksums.

    Raises:
        ValueError: they may not be released; says why.
    """
    if tag != f"v{version()}":
        raise ValueError(f"the tag is {tag}, but the version of the source is {version()}")
    target.mkdir(parents=True, exist_ok=not systems)
    for system, folder in systems.items():
        for file in checked(folder):
            put(file, target / name_in_release(file, system))
    files = sorted(file for file in target.iterdir() if not file.name.startswith((SUMS, LIST)))
    (target / SUMS).write_text("".join(f"{digest(file)}  {file.name}\n" for file in files))
    (target / LIST).write_text(list_of_releases(files))
    return sorted(target.iterdir())


def list_of_releases(files: list[Path]) -> str:
    """The list that Tooltray reads: this release, and the earlier ones."""
    earlier = [each for each in json.loads(EARLIER.read_text())["releases"] if each["version"] != version()]
    date, changes = in_changelog(CHANGELOG.read_text())
    listed = [{"name": file.name, "size": file.stat().st_size, "sha256": digest(file)} for file in files]
    this = {"version": version(), "date": date, "changes": changes, "withdrawn": None, "files": listed}
    return json.dumps({"releases": [this, *earlier][:MOST_RELEASES]}, indent=1, ensure_ascii=False) + "\n"


def in_changelog(text: str) -> tuple[str, list[str]]:
    """The date of this version, and its first changes as plain lines.

    Raises:
        ValueError: its section has no date.
    """
    section = re.search(rf"^## {re.escape(version())} \((\d{{4}}-\d\d-\d\d)\)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not section:
        raise ValueError(f"the section of {version()} in CHANGELOG.md has no date")
    points = re.findall(r"^- (.*(?:\n  .*)*)", section[2], re.MULTILINE)[:MOST_CHANGES]
    return section[1], [plain(point) for point in points]


def plain(markdown: str) -> str:
    """The first sentence of a point on one line, without marks and addresses."""
    text = " ".join(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown).translate({ord("*"): None, ord("`"): None}).split())
    text = text.partition(". ")[0]
    return text if len(text) <= LONGEST_CHANGE else f"{text[: LONGEST_CHANGE - 1]}…"


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
