"""The file of first answers: what is written is read again, and nothing else is."""

import os
import sys
from pathlib import Path

import pytest

from tooltray.carriers.mcp.first_answers_file import ABSENT, Asked, Kind, changed_at, decode, encode, is_own, program_file, signature
from tooltray.foundation import programs

KINDS = {
    b"a\0\0/\xff": Kind({"/p/\udcff": b"1.2.3"}, {Asked(b"{}", "initialize", b"{}"): b'{"a":1}', Asked(b"", "tools/list", b"{}"): b"{}"}),
    b"b": Kind({}, {Asked(b"", "tools/list", b""): b'{"a":1}'}),
}
INPUTS = {"/s": ABSENT, "/t": b"4.5.6"}
WHOLE = encode(b"7.8.9", INPUTS, KINDS)


def test_what_is_written_is_read_again() -> None:
    assert decode(WHOLE) == (b"7.8.9", INPUTS, KINDS)
    assert WHOLE.count(b'{"a":1}') == 1


@pytest.mark.parametrize("size", range(len(WHOLE)))
def test_a_file_that_is_cut_is_not_read(size: int) -> None:
    with pytest.raises(ValueError):
        decode(WHOLE[:size])


@pytest.mark.parametrize(("old", "new"), [(b"answers 1", b"answers 2"), (b"7.8.9", b"7.8.8"), (b'"a":1', b'"a":2')])
def test_a_damaged_file_is_not_read(old: bytes, new: bytes) -> None:
    assert old in WHOLE
    with pytest.raises(ValueError, match="damaged"):
        decode(WHOLE.replace(old, new))


def test_a_signature_changes_with_the_file(home: Path) -> None:
    file = home / "f"
    assert (signature(file), signature(home / "f" / "g"), changed_at(file)) == (ABSENT, ABSENT, 0.0)
    file.write_text("a")
    first = signature(file)
    assert signature(file) == first
    assert changed_at(file) >= file.stat().st_mtime
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 1))
    assert len({first, signature(file)}) == 2
    (home / "g").write_text("b")
    os.replace(home / "g", file)
    assert signature(file) != first
    assert signature(file / "below") == ABSENT


def test_a_file_that_another_user_may_have_written_is_not_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = home / "f"
    assert not is_own(file)
    file.touch(0o600)
    assert is_own(file)
    for mode in (0o620, 0o602):
        file.chmod(mode)
        assert not is_own(file)
    file.chmod(0o600)
    (home / "link").symlink_to(file)
    assert not is_own(home / "link")
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert not is_own(file)


def test_the_program_of_a_frozen_hub_is_the_one_that_bridges_start(monkeypatch: pytest.MonkeyPatch) -> None:
    assert program_file() == programs.PACKAGE / "__init__.py"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert program_file() == Path(programs.tooltray_command()[0])
