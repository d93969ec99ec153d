"""`tooltray grants rule ...` and `tooltray approve ID --rule`: the rule in words is read before the yes."""

import json
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub
from tests.unit.cli.commands.test_approve_command import CALL, GRANT
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home

RULE = {"tool": "write_file", "arguments": {"path": {"equals": "x"}}}
CALLS = [
    {"at": 0.0, "tool": "write_file", "client": "Cursor", "line": '{"path":"x"}\x1b[2J', "is_covered": True},
    {"at": 0.0, "tool": "write_file", "client": "Cursor", "line": '{"path":"y"}', "is_covered": False},
]
PREVIEW = {
    "words": "write_file, where path is x",
    "rule": RULE,
    "cautions": ["mind"],
    "problems": ["no folder"],
    "calls": CALLS,
    "unknown": 3,
}
MADE = {**GRANT, "kind": "rule", "words": "write_file, where path is x"}


def hub(home: Home, **answers: Any) -> FakeControlHub:
    usual = {"preview_rule": PREVIEW, "add_rule": MADE, "get_grants": [MADE], "answer_approval": None}
    return FakeControlHub(home, usual | answers)


def test_a_rule_is_said_in_words_and_added_after_a_yes(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        result = person("grants", "rule", "files", json.dumps(RULE), "--client", "Cursor", "--for", "1h")
    for said in (
        "Runs without asking: write_file, where path is x.",
        "Careful: no folder",
        "Careful: mind",
        "It covers 1 of 2 recent calls.",
        "3 more are not judged: their arguments are not kept.",
        "tooltray grants remove g1",
    ):
        assert said in result.out
    assert "\x1b" not in result.out
    assert fake.params_of("add_rule") == {"server": "files", "rule": RULE, "client": "Cursor", "expires_in_s": 3600.0}


def test_a_rule_may_end_when_the_screen_locks(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        person("grants", "rule", "files", json.dumps(RULE), "--until-lock")
    assert fake.params_of("add_rule") == {"server": "files", "rule": RULE, "client": "", "expires_in_s": None, "until": "lock"}


def test_a_preview_and_a_no_allow_nothing(tooltray: Tooltray, person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, preview_rule={**PREVIEW, "calls": [], "unknown": 0}) as fake:
        assert "There are no recent calls" in tooltray("grants", "rule", "files", json.dumps(RULE), "--preview").out
        assert tooltray("grants", "rule", "files", json.dumps(RULE), "--preview", "--json").json["words"] == PREVIEW["words"]
        assert person("grants", "rule", "files", json.dumps(RULE), typed="n\n").out.endswith("Nothing was allowed.\n")
        assert tooltray("grants", "rule", "files", json.dumps(RULE)).code == 1
    assert "add_rule" not in fake.methods()


@pytest.mark.parametrize("text", ["git status", "[]", "[" * 100_000, '"x"'])
def test_what_is_no_rule_is_refused(person: Tooltray, hub_home: Home, text: str) -> None:
    with hub(hub_home) as fake:
        result = person("grants", "rule", "files", text)
    assert result.code == 1
    assert "a JSON object is wanted" in result.err
    assert "preview_rule" not in fake.methods()


def test_the_narrowest_rule_of_a_call_is_read_before_the_yes(person: Tooltray, hub_home: Home) -> None:
    offered = [{"answer": f"rule-{number}", "title": "x", "words": f"rule {number}\x1b", "rule": RULE} for number in (1, 2)]
    with hub(hub_home, get_approvals=[{**CALL, "rules": offered}]) as fake:
        result = person("approve", "ab12", "--rule")
    assert fake.params_of("answer_approval") == {"id": "ab12", "answer": "rule-1"}
    assert "From now on runs without asking, for Cursor:\n  rule 1" in result.out
    with hub(hub_home, get_approvals=[CALL]) as fake:
        result = person("approve", "ab12", "--rule")
    assert "No rule can be made of this call" in result.err
    assert "answer_approval" not in fake.methods()


def test_rules_are_listed_in_words(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home):
        assert "write_file, where path is x" in tooltray("grants", "list").out
