"""own_program.py"""

import os
import sys
from pathlib import Path

import pytest

import tooltray
from tooltray.foundation.installs import own_program
from tooltray.foundation.installs.installation import CHECKOUT, WHEEL, Installation
from tooltray.foundation.installs.own_program import SETTLED_S, OwnProgram

pytestmark = pytest.mark.posix  # Windows replaces no program that runs


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "tooltray"
    file.write_text("version 1")
    return file


def replace(file: Path) -> None:
    newer = file.with_name("newer")
    newer.write_text("version 2")
    newer.rename(file)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some time after the last change of a file."""
    now = own_program.time.time()
    monkeypatch.setattr(own_program.time, "time", lambda: now + SETTLED_S + 5.0)


@pytest.mark.usefixtures("later")
def test_a_program_is_replaced_when_another_file_has_its_place(file: Path) -> None:
    program = OwnProgram(file)
    assert not program.is_replaced()
    replace(file)
    assert program.is_replaced()


def test_a_package_manager_gets_time_for_the_other_files(file: Path) -> None:
    program = OwnProgram(file)
    replace(file)
    assert not program.is_replaced()


@pytest.mark.usefixtures("later")
def test_a_program_that_is_gone_was_removed(file: Path) -> None:
    program = OwnProgram(file)
    file.unlink()
    assert not program.is_replaced()


@pytest.mark.usefixtures("later")
def test_one_that_was_gone_at_the_start_tells_nothing(file: Path) -> None:
    file.unlink()
    program = OwnProgram(file)
    file.write_text("version 2")
    assert not program.is_replaced()


@pytest.mark.parametrize(
    ("kind", "is_frozen", "looks_at"),
    [(CHECKOUT, False, None), ("deb", True, sys.executable), (WHEEL, False, tooltray.__file__)],
)
@pytest.mark.usefixtures("later")
def test_which_file_is_looked_at(kind: str, is_frozen: bool, looks_at: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", is_frozen, raising=False)
    looked: list[str] = []
    stat = os.stat
    monkeypatch.setattr(own_program.os, "stat", lambda path, **options: (looked.append(str(path)), stat(path, **options))[1])
    OwnProgram.of(Installation(kind, "1", ())).is_replaced()
    assert set(looked) == ({looks_at} if looks_at else set())
