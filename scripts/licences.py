"""Checks that everything that is shipped may be shipped: `python scripts/licences.py`, a part of `make check`.

Reads requirements/run.txt, which lists what is shipped, and the metadata of the installed packages. A licence that is not in the table
fails the check, and so does a package without one: it must be read first. GPL is not in the table; where a package may be had under the GPL
or another licence, the other one is ours (Qt: LGPL-3.0).
"""

import importlib.metadata
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALLOWED = frozenset(
    {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "LGPL-3.0-only", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0", "Unlicense", "Zlib"}
)
OLD_NAMES = {  # how packages write it that have no SPDX expression
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
}
NOT_HERE = {  # what other systems and other versions of Python have; read by hand
    "httpx2-jsfetch": "BSD-3-Clause",
    "pywin32": "PSF-2.0",
    "pywin32-ctypes": "BSD-3-Clause",
    "backports-tarfile": "MIT",
    "importlib-metadata": "Apache-2.0",
    "lazy-importer": "Apache-2.0",
    "zipp": "MIT",
}


def shipped(lock: str) -> list[str]:
    """The names in a lock file."""
    return re.findall(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==", lock, flags=re.MULTILINE)


def licence(about: importlib.metadata.PackageMetadata) -> str:
    """The SPDX expression of a package; empty if it says nothing that we know."""
    if expression := about.get("License-Expression") or "":
        return expression
    classifiers = [each.rpartition(":: ")[2] for each in about.get_all("Classifier") or [] if each.startswith("License ::")]
    named = [about.get("License") or "", *classifiers]
    known = (OLD_NAMES.get(each, each) for each in named)
    return next((each for each in known if is_allowed(each)), "")


def is_allowed(expression: str) -> bool:
    """Whether a licence that this expression offers is in the table. `AND` binds tighter than `OR`, as SPDX has it; without brackets."""
    choices = [choice.split(" AND ") for choice in expression.split(" OR ")]
    return any(all(each.strip() in ALLOWED for each in choice) for choice in choices)


def not_allowed(names: list[str]) -> Iterator[str]:
    """A line for each package that may not be shipped, or that nobody has read."""
    for name in names:
        try:
            found = licence(importlib.metadata.metadata(name))
        except importlib.metadata.PackageNotFoundError:
            found = NOT_HERE.get(name, "")
        if not is_allowed(found):
            yield f"{name}: {found or 'no licence that is known'}"


def main() -> int:
    names = shipped((ROOT / "requirements" / "run.txt").read_text())
    wrong = list(not_allowed(names))
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    print(f"Licences of what is shipped: {len(names)} packages" if not wrong else "May not be shipped; see scripts/licences.py")  # noqa: T201
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
