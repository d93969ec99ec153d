import errno
import os
import socket
import sys
from pathlib import Path

import pytest
from tests.fakes.forked import in_child

from tooltray_confine import kernel, landlock

HERE = os.getcwd()
PR_SET_NO_NEW_PRIVS = 38


def restricted(abi: int, *, read: list[str], write: list[str], has_tcp_rules: bool = False, connect_port: int = 0) -> None:
    kernel.call(kernel.number_of("prctl"), PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    landlock.restrict(abi, read=read or ["/"], write=[HERE, *write], has_tcp_rules=has_tcp_rules, connect_port=connect_port)


def test_each_abi_knows_more_rights():
    assert [landlock.known_files(abi).bit_length() for abi in (1, 2, 3, 4, 5, 6, 7)] == [13, 14, 15, 15, 16, 16, 16]


def test_what_is_listed_may_be_read_or_written_and_nothing_else(tmp_path: Path):
    names = [tmp_path / name for name in ("file", "folder", "own", "other")]
    for each in names:
        each.write_text("x") if each.name in ("file", "other") else each.mkdir()
    file, folder, own, other = names

    def look() -> None:
        restricted(
            min(landlock.newest_abi(), 2), read=["/usr", "/lib", sys.base_prefix, str(file), str(folder), "/not/there"], write=[str(own)]
        )
        file.read_text()
        list(folder.iterdir())
        (own / "new").write_text("x")
        for refused in (other.read_text, lambda: file.write_text("y"), lambda: (folder / "new").write_text("y")):
            with pytest.raises(PermissionError):
                refused()

    assert in_child(look).code == 0


@pytest.mark.skipif(landlock.newest_abi() < 4, reason="no rules for TCP here")
def test_tcp_leads_to_one_port():
    with socket.create_server(("127.0.0.1", 0)) as allowed, socket.create_server(("127.0.0.1", 0)) as refused:

        def look() -> None:
            restricted(landlock.newest_abi(), read=[], write=[], has_tcp_rules=True, connect_port=allowed.getsockname()[1])
            socket.create_connection(allowed.getsockname()).close()
            with pytest.raises(PermissionError):
                socket.create_connection(refused.getsockname())
            with pytest.raises(PermissionError):
                socket.create_server(("127.0.0.1", 0))

        assert in_child(look).code == 0


def test_no_tcp_at_all_is_a_rule_without_a_port():
    def look() -> None:
        restricted(landlock.newest_abi(), read=[], write=[], has_tcp_rules=True)
        with pytest.raises(PermissionError):
            socket.create_server(("127.0.0.1", 0))

    assert landlock.newest_abi() < 4 or in_child(look).code == 0


def test_rules_are_asked_for_as_far_as_an_abi_knows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made: list[tuple[object, ...]] = []
    nothing = os.open(os.devnull, os.O_RDONLY)

    def call(number: int, *arguments: object) -> int:
        made.append((number, *arguments))
        return os.dup(nothing) if number == landlock.CREATE_RULESET else 0

    monkeypatch.setattr(landlock, "call", call)
    file = tmp_path / "file"
    file.touch()
    for abi, size in ((1, 8), (4, 16), (6, 24)):
        landlock.restrict(abi, read=[str(file), "/not/there"], write=[str(tmp_path)], has_tcp_rules=True, connect_port=9)
        assert made[0][2] == size
        rights = [int.from_bytes(each[3][:8], "little") for each in made if each[0] == landlock.ADD_RULE and isinstance(each[3], bytes)]
        assert rights[:2] == [landlock.EXECUTE | landlock.READ_FILE, landlock.WRITE & landlock.known_files(abi)]
        assert rights[2:] == ([landlock.CONNECT_TCP] if abi >= 4 else [])
        assert made[-1][0] == landlock.RESTRICT_SELF
        made.clear()
    landlock.restrict(6, read=[], write=[], has_tcp_rules=False)
    assert made[0][1] == landlock.known_files(6).to_bytes(8, "little") + bytes(8) + (3).to_bytes(8, "little")
    os.close(nothing)


def test_a_kernel_without_landlock_has_the_abi_0(monkeypatch: pytest.MonkeyPatch):
    for code, expected in ((errno.ENOSYS, 0), (errno.EOPNOTSUPP, 0)):

        def call(*arguments: object, code: int = code) -> int:
            raise OSError(code, "")

        monkeypatch.setattr(landlock, "call", call)
        assert landlock.newest_abi() == expected
    monkeypatch.setattr(landlock, "call", lambda *arguments: (_ for _ in ()).throw(OSError(errno.EPERM, "")))
    with pytest.raises(OSError):
        landlock.newest_abi()
