"""The lock files: everything has its hash, nothing has an address, and they fit what pyproject.toml asks for."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


def pins(name: str) -> dict[str, str]:
    return {canonicalize_name(package): version for package, version in PINNED.findall((ROOT / "requirements" / name).read_text())}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_locked_package_has_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    entries = re.split(r"\n(?! )", text.strip())

    assert entries
    assert [entry for entry in entries if not PINNED.match(entry) or "--hash=sha256:" not in entry] == []
    assert "://" not in text


@pytest.mark.parametrize(("lock", "extra"), [("run.txt", ""), ("dev.txt", ""), ("dev.txt", "dev")])
def test_the_lock_holds_a_fitting_version_of_everything_that_is_asked_for(lock: str, extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [Requirement(line) for line in (project["optional-dependencies"][extra] if extra else project["dependencies"])]
    locked = pins(lock)

    assert [str(need) for need in wanted if not need.specifier.contains(locked.get(canonicalize_name(need.name), "0"))] == []


def test_tests_run_with_the_versions_that_users_get() -> None:
    assert pins("run.txt").items() <= pins("dev.txt").items()


def test_npm_packages_are_locked_with_integrity_and_without_addresses() -> None:
    packages = json.loads((ROOT / "tests" / "npm" / "package-lock.json").read_text())["packages"]
    locked = {name: entry for name, entry in packages.items() if name}

    assert locked
    assert [name for name, entry in locked.items() if "integrity" not in entry or "resolved" in entry] == []
