"""`tooltray audit`: decisions, the newest last, and whether the record is whole."""

import asyncio

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.conftest import Tooltray

from tooltray.cli.commands import audit_command
from tooltray.foundation.home.home import Home
from tooltray.foundation.snapshots.approvals import AuditEntry
from tooltray.records.audit_trail import AuditFile, AuditTrail, Decision

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
    with FakeControlHub(hub_home, {"get_audit": [{**ENTRIES[1], "what": "Running a server unconfined"}]}):
        assert "不受限制地執行伺服器" in tooltray("audit").out
        assert tooltray("audit", "--json").json[0]["what"] == "Running a server unconfined"


def test_more_than_a_hub_gives_at_once_are_listed(tooltray: Tooltray, hub_home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_command, "PAGE", 2)
    hub_home.root.mkdir()
    trail = AuditFile(hub_home.audit)
    for number in range(4):
        trail.append(AuditEntry(0, 1.5, f"yes {number + 1}", "yes", "window"))
    assert [each["what"] for each in tooltray("audit", "--json", "--limit", "3").json] == ["yes 2", "yes 3", "yes 4"]
    assert [each["number"] for each in tooltray("audit", "--json").json] == [1, 2, 3, 4]


def test_without_a_hub_the_file_is_read_and_checked(tooltray: Tooltray, hub_home: Home) -> None:
    assert tooltray("audit").out == "Nothing was decided yet.\n"
    trail = AuditTrail(hub_home.audit)
    asyncio.run(trail.record(Decision("A yes", "yes", "window")))
    assert "A yes" in tooltray("audit").out
    assert tooltray("audit", "--verify").out == "The audit trail is whole: numbers 1 to 1.\n"
    hub_home.audit.write_text("")
    found = tooltray("audit", "--verify")
    assert (found.code, "not as it was written" in found.err) == (1, True)
    found = tooltray("audit", "--verify", "--json")
    assert (found.code, found.json["is_whole"]) == (1, False)
