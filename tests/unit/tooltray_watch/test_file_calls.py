"""What calls on files mean, with the memory and the files of this process."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.tooltray_watch.own_memory import at, facts, path_at, stop

from tooltray_watch import file_calls, report
from tooltray_watch.file_calls import O_PATH, FileCall, FileCalls, of_family
from tooltray_watch.report import Report
from tooltray_watch.traced_memory import AT_FDCWD, text

ME, GONE = os.getpid(), 2**22 + 1


class Calls:
    def __init__(self, report_file: Path) -> None:
        self.file, self.report = report_file, Report(str(report_file))
        self.calls = FileCalls(self.report)

    def open(self, path: str | bytes, flags: int = os.O_RDONLY, folder: int = AT_FDCWD, error: int = 0) -> None:
        call = self.calls.begun(ME, "openat", stop(folder, path_at(path), flags))
        if call is None or error:
            assert call is None or self.calls.ended(ME, call, (1 << 64) - error) is None
            return
        fd = os.open(path, flags, dir_fd=None if folder == AT_FDCWD else folder)
        self.calls.ended(ME, call, fd)
        os.close(fd)

    def __call__(self, name: str, *args: int, error: int = 0) -> None:
        if call := self.calls.begun(ME, name, stop(*args)):
            self.calls.ended(ME, call, (1 << 64) - error if error else 0)

    @property
    def told(self) -> list[tuple[str, ...]]:
        return facts(self.file)


@pytest.fixture
def calls(report_file: Path) -> Iterator[Calls]:
    made = Calls(report_file)
    yield made
    made.report.close()


def test_an_opened_file_is_told_where_its_link_leads_and_once(calls: Calls, tmp_path: Path) -> None:
    file, link = tmp_path / "a\nb", tmp_path / "link"
    file.touch()
    link.symlink_to(file)
    folder = os.open(tmp_path, os.O_RDONLY)
    calls.open("link", folder=folder)
    os.close(folder)
    for _ in range(2):
        calls.open(str(link))
    calls.open(str(tmp_path))
    calls.open(str(file), os.O_RDWR)
    calls.open(os.fsencode(tmp_path) + b"/\xff", os.O_WRONLY | os.O_CREAT)
    calls.open(str(file), O_PATH)
    where = str(tmp_path)
    assert calls.told == [("read", str(file)), ("list", where), ("write", str(file)), ("create", f"{where}/\udcff")]


def test_a_lookup_of_what_is_not_there_is_noise_but_not_what_was_to_be_written(calls: Calls, tmp_path: Path) -> None:
    calls.open(str(tmp_path / "gone"), error=errno.ENOENT)
    calls.open(str(tmp_path / "x" / "new"), os.O_WRONLY | os.O_CREAT, error=errno.ENOENT)
    calls.open(str(tmp_path / "shut"), error=errno.EACCES)
    calls("execve", path_at(str(tmp_path / "gone")), error=errno.ENOENT)
    calls("execve", path_at(str(tmp_path / "locked")), error=errno.EACCES)
    assert calls.told == [("failed", str(tmp_path / name)) for name in ("x/new", "shut", "locked")]


def test_pipes_and_deleted_files_are_no_paths_of_their_own(calls: Calls, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    call = calls.calls.begun(ME, "openat", stop(AT_FDCWD, path_at("/proc/self/fd/0"), 0))
    assert call
    calls.calls.ended(ME, call, reading)
    file = tmp_path / "a"
    fd = os.open(file, os.O_RDWR | os.O_CREAT)
    file.unlink()
    call = calls.calls.begun(ME, "open", stop(path_at(str(file)), os.O_RDWR))
    assert call
    calls.calls.ended(ME, call, fd)
    for each in (reading, writing, fd):
        os.close(each)
    assert calls.told == [("write", str(file))]


def test_other_ways_to_open_and_to_change(calls: Calls, tmp_path: Path) -> None:
    where, file = str(tmp_path), tmp_path / "a"
    file.touch()
    how = at((os.O_RDONLY).to_bytes(8, "little") + bytes(16))
    for name, args in (("openat2", (AT_FDCWD, path_at(str(file)), how, 24)), ("creat", (path_at(str(file)), 0o600))):
        call = calls.calls.begun(ME, name, stop(*args))
        assert call
        fd = os.open(file, os.O_RDONLY)
        calls.calls.ended(ME, call, fd)
        os.close(fd)
    for _ in range(2):
        calls("renameat2", AT_FDCWD, path_at(f"{where}/./a"), AT_FDCWD, path_at(f"{where}/b/"), 0)
    calls("chmod", path_at(f"{where}/a"), 0o600)
    calls("unlink", path_at(f"{where}/no"), error=errno.ENOENT)
    calls("mkdir", path_at("/proc/no"), error=errno.EACCES)
    calls("unlinkat", 9999, path_at("x"), 0)
    assert calls.told == [
        ("read", f"{where}/a"), ("write", f"{where}/a"), ("create", f"{where}/a"), ("create", f"{where}/b"), ("failed", "/proc/no"),
    ]  # fmt: skip


def test_a_program_is_told_with_its_script_and_its_rights(calls: Calls, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.touch(mode=0o755)
    script.chmod(0o4755)
    calls.calls.executed(ME, FileCall("exec", (str(tmp_path / "gone"),)))
    call = calls.calls.begun(ME, "execveat", stop(AT_FDCWD, path_at(str(script))))
    calls.calls.executed(ME, call)
    calls.calls.executed(ME, None)
    assert calls.calls.begun(ME, "execve", stop(1)) is None
    python = os.path.realpath("/proc/self/exe")
    assert calls.told == [("exec", str(tmp_path / "gone")), ("exec", python), ("exec", str(script)), ("setuid", str(script))]


def test_nothing_is_told_of_a_process_that_has_ended_meanwhile(calls: Calls) -> None:
    assert calls.calls.begun(GONE, "openat", stop(AT_FDCWD, path_at("/etc/hosts"), 0)) is None
    calls.calls.executed(GONE, None)
    assert calls.told == []


def test_a_million_files_end_the_telling_of_files(calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_FILES", 1)
    monkeypatch.setattr(file_calls, "MOST_KNOWN", 0)
    for name in "abc":
        (tmp_path / name).touch()
        calls.open(str(tmp_path / name))
    assert calls.told == [("read", str(tmp_path / "a")), ("full", "")]


def test_a_string_may_cross_pages_and_has_an_end() -> None:
    assert text(ME, path_at("/" + "x" * 4095)) == "/" + "x" * 4095
    assert text(ME, at(b"x" * 9000 + b"\0")) == ""
    assert text(ME, 8) == text(GONE, path_at("/a")) == ""


def test_ones_own_process_has_one_name() -> None:
    assert of_family(f"/proc/{ME}/status", ME) == "/proc/self/status"
    assert of_family("/proc/1/environ", ME) == "/proc/1/environ"
    assert of_family("/proc/meminfo", ME) == "/proc/meminfo"
