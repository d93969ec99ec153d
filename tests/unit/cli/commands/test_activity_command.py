"""`tooltray activity` with a running hub and without one."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.fake_control_hub import BOUND_S, FakeControlHub
from tests.fakes.journals import NOW, written
from tests.fakes.journals import entry as kept
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.commands import activity_command
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.approvals import AuditEntry
from tooltray.records.audit_trail import AuditFile, AuditTrail, Decision


def entry(id: int, **fields: Any) -> dict[str, Any]:
    given = {"id": id, "kind": "call", "at": NOW, "outcome": "ok", "client": "Cursor", "server": "files", "tool": "read_file"}
    return given | {"duration_s": 0.25, "touched": "/a", **fields}


def row(id: int, count: int = 1, **fields: Any) -> dict[str, Any]:
    return {"entry": entry(id, **fields), "count": count, "first_id": id, "first_at": NOW}


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()[1:]]


RESTARTS = row(6, 4, kind="start", tool="", touched="") | {"servers": ["files", "git"], "starts": 2}
ROWS = [
    RESTARTS,
    row(4, 41),
    row(2, kind="start", tool="", client="", touched="", reason="person"),
    row(1, outcome="error", reason="gone", at=1e20),
]


def test_what_happened_is_listed_with_the_newest_last(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_activity": ROWS}) as hub:
        printed = lines(tooltray("activity").out)
        asked = hub.params_of("get_activity")
        as_json = tooltray("activity", "--json").json
    assert [[each[0], *each[-5:]] for each in printed] == [
        ["1", "error", "250", "/a", "-", "gone"],
        ["2", "start", "files", "ok", "250", "person"],
        ["4", "x", "41", "ok", "250", "/a"],
        ["6", "git", "x", "4", "ok", "250"],
    ]
    assert (asked["limit"], asked["collapsed"]) == (50, True)
    assert [each["entry"]["id"] for each in as_json] == [1, 2, 4, 6]


def test_what_is_asked_for_reaches_the_hub(tooltray: Tooltray, hub_home: Home) -> None:
    options = ["--server", "a", "--server", "b", "--client", "c", "--tool", "t", "--project", ".", "--kind", "call", "--text", "x"]
    with FakeControlHub(hub_home, {"get_activity": []}) as hub:
        printed = tooltray("activity", *options, "--failed", "--since", "2h", "--limit", "7", "--each").out
        asked = hub.params_of("get_activity")
    wanted = asked["filter"]
    assert (wanted["servers"], wanted["clients"], wanted["tools"], wanted["kinds"], wanted["text"]) == (
        ["a", "b"],
        ["c"],
        ["t"],
        ["call"],
        "x",
    )
    assert (wanted["outcomes"], wanted["projects"], asked["limit"], asked["collapsed"]) == (
        ["error", "refused"],
        [str(Path.cwd())],
        7,
        False,
    )
    assert wanted["since"] > NOW - 10**9
    assert printed == "The journal has no matching entries.\n"


def test_one_entry_is_shown_in_full(tooltray: Tooltray, hub_home: Home) -> None:
    details = {
        "entry": entry(7, session="s1", project="/p", argument_bytes=1000, result_bytes=2000, tokens=500, reason="it is\x1b gone"),
        "times": {"server_s": 0.2, "person_s": None},
        "allowed_by": "grant",
        "arguments": '{"a":1}',
    }
    with FakeControlHub(hub_home, {"get_activity_entry": details}) as hub:
        printed = tooltray("activity", "show", "7").out
        assert hub.params_of("get_activity_entry") == {"id": 7}
    assert "files/read_file: ok" in printed
    assert "AI client: Cursor, session s1" in printed
    assert "Allowed by: an earlier approval" in printed
    assert "1,000 bytes of arguments, 2,000 of result (about 500 tokens)" in printed
    assert "Time: 200.00 ms the server" in printed
    assert 'Arguments: {"a":1}' in printed
    assert "\x1b" not in printed
    assert "Result" not in printed
    with FakeControlHub(hub_home, {"get_activity_entry": {"entry": entry(8, kind="stop"), "allowed_by": ""}}):
        assert "Sizes" not in tooltray("activity", "show", "8").out


def test_an_export_goes_to_a_path_that_the_hub_knows(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"export_activity": 3}) as hub:
        result = tooltray("activity", "export", "out.jsonl", "--failed")
        asked = hub.params_of("export_activity")
    assert (asked["path"], asked["filter"]["outcomes"]) == (str(Path.cwd() / "out.jsonl"), ["error", "refused"])
    assert result.out.startswith("3 lines written to ")


def test_a_person_at_a_terminal_empties_the_journal(tooltray: Tooltray, person: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"clear_activity": None, "undo_clear_activity": None}) as hub:
        assert "needs a person at a terminal" in tooltray("activity", "clear").err
        assert "The journal is empty" in person("activity", "clear").out
        assert tooltray("activity", "undo-clear").out == "The journal is restored.\n"
        assert [each for each in hub.methods() if "clear" in each] == ["clear_activity", "undo_clear_activity"]


@pytest.mark.parametrize("words", [["show"], ["show", "1", "2"], ["export"], ["clear", "x"], ["what"], ["show", "1", "--follow"]])
def test_other_words_are_wrong_usage(tooltray: Tooltray, words: list[str]) -> None:
    assert tooltray("activity", *words).code == 2


def test_without_a_hub_the_file_is_read(tooltray: Tooltray, hub_home: Home, tmp_path: Path) -> None:
    hub_home.prepare()
    written(hub_home.activity, [kept(touched="/a"), kept(outcome="error", reason="gone")]).close()
    assert [each["entry"]["id"] for each in tooltray("activity", "--json").json] == [1, 2]
    assert tooltray("activity", "show", "2", "--json").json["entry"]["reason"] == "gone"
    assert "Entry call_1 not found" in tooltray("activity", "show", "call_1").err
    assert tooltray("activity", "export", str(tmp_path / "out"), "--json").json["entries"] == 2
    assert "Tooltray is not running" in tooltray("activity", "--follow").err
    assert "Tooltray is not running" in tooltray("activity", "undo-clear").err
    assert "Entry 9 not found" in tooltray("activity", "show", "9").err


def test_what_happens_is_followed_until_the_hub_ends(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each entry once, also where more came than are asked for at once."""
    monkeypatch.setattr(activity_command, "PAGE", 2)
    known, asked = [row(1)], threading.Semaphore(0)

    def answer(before: int = 0, limit: int = 50, **_: Any) -> list[dict[str, Any]]:
        found = [each for each in reversed(known) if not before or each["entry"]["id"] < before][:limit]
        asked.release()
        return found

    def happen(hub: FakeControlHub) -> None:
        assert asked.acquire(timeout=BOUND_S)
        known.extend(row(id, touched=f"/{id}") for id in (2, 3, 4))
        for kind, data in (("Other", {}), ("ActivityWritten", {"last_id": 4}), ("ActivityWritten", {"last_id": 4})):
            event = {"jsonrpc": "2.0", "method": "event", "params": {"type": kind, "data": data}}
            hub.send_raw(json.dumps(event).encode() + b"\n", at=0)
        for _ in range(3):  # two pages, and one without news
            assert asked.acquire(timeout=BOUND_S)
        hub.close()

    with FakeControlHub(hub_home, {"get_activity": answer}) as hub:
        happening = threading.Thread(target=happen, args=(hub,))
        happening.start()
        result = tooltray("activity", "--follow")
        happening.join(BOUND_S)
    assert (result.code, result.err) == (0, "")
    assert [line.split()[-1] for line in result.out.splitlines()] == ["/a", "/2", "/3", "/4"]


ENTRIES = [
    {"number": 2, "at": 1e30, "what": "A no", "answer": "no", "way": "program", "who": "panel\x1b[1m"},
    {"number": 1, "at": 0.0, "what": "A yes", "answer": "yes", "way": "window", "origin": "bash (1)", "about": {"server": "s"}},
]


def test_decisions_are_listed_with_their_way_and_nothing_in_them_is_heeded(tooltray: Tooltray, hub_home: Home) -> None:
    with FakeControlHub(hub_home, {"get_audit": ENTRIES}) as hub:
        found = tooltray("audit", "--limit", "2")
        rows = found.out.splitlines()
        assert "yes" in rows[1]
        assert all(part in rows[1] for part in ("A yes", "server: s", "the window", "bash (1)"))
        assert "a program (panel" in rows[2]
        assert " ? " in rows[2]
        assert "\x1b" not in found.out
        assert hub.params_of("get_audit") == {"limit": 2, "before": 0}
        assert [each["number"] for each in tooltray("audit", "--json").json] == [1, 2]


def test_what_was_decided_stands_in_the_person_s_language(tooltray: Tooltray, hub_home: Home) -> None:
    hub_home.root.mkdir()
    hub_home.settings.write_text('{"version": 1, "language": "zh_TW"}')
    with FakeControlHub(hub_home, {"get_audit": [{**ENTRIES[1], "what": "Running a server without its sandbox"}]}):
        assert "讓伺服器不在沙箱中執行" in tooltray("audit").out
        assert tooltray("audit", "--json").json[0]["what"] == "Running a server without its sandbox"


def test_more_than_a_hub_gives_at_once_are_listed(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity_command, "AUDIT_PAGE", 2)
    hub_home.root.mkdir()
    trail = AuditFile(hub_home.audit)
    for number in range(4):
        trail.append(AuditEntry(0, 1.5, f"yes {number + 1}", "yes", "window"))
    assert [each["what"] for each in tooltray("audit", "--json", "--limit", "3").json] == ["yes 2", "yes 3", "yes 4"]
    assert [each["number"] for each in tooltray("audit", "--json").json] == [1, 2, 3, 4]


def test_without_a_hub_the_file_is_read_and_checked(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("audit").out == "No decisions yet.\n"
    trail = AuditTrail(hub_home.audit)
    asyncio.run(trail.record(Decision("A yes", "yes", "window")))
    assert "A yes" in tooltray("audit").out
    assert tooltray("audit", "--verify").out == "The audit trail is intact: entries 1 to 1.\n"
    hub_home.audit.write_text("")
    found = tooltray("audit", "--verify")
    assert (found.code, "The audit trail was altered" in found.err) == (1, True)
    found = tooltray("audit", "--verify", "--json")
    assert (found.code, found.json["is_whole"]) == (1, False)
