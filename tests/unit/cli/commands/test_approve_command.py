"""`tooltray approve ...` and `tooltray grants ...`, with a running hub and a person at a terminal, or without one."""

import json
import re
import time
from typing import Any

import pytest
from tests.fakes.fake_control_hub import FakeControlHub, whole
from tests.unit.cli.conftest import Tooltray

from tooltray.foundation.home.home import Home

CALL = {
    "id": "ab12",
    "server": "files",
    "tool": "write_file",
    "client": "Cursor",
    "category": "write",
    "arguments": '{\n  "path": "x"\n}',
    "why": "it writes",
    "ends_at": 0.0,
    "choices": ["once", "session", "always"],
    "project": "/p",
    "description": "Writes\x1b[1m",
    "diff": ["+new"],
    "definition_diff": ["-old", "+new\x1b[2J"],
    "warnings": ["odd\x07"],
}
TOOL = {"name": "write_file", "original_name": "write_file", "server": "files", "category": "write", "description": "Writes"}
GRANT = {
    "id": "g1",
    "kind": "tool",
    "server": "files",
    "tool": "write_file",
    "client": "",
    "session": "",
    "created_at": 0.0,
    "expires_at": 0.0,
    "held_tools": [],
}
CHANGE = {"server": "files", "tool": "write_file", "diff": ["-Reads", "+Sends"], "warnings": ["odd"]}


def hub(home: Home, **answers: Any) -> FakeControlHub:
    usual = {
        "get_approvals": [CALL],
        "answer_approval": None,
        "get_approval_diff": [],
        "preview_grant": [TOOL],
        "get_tool_changes": [],
        "add_grant": GRANT,
        "remove_grant": None,
        "get_grants": [GRANT],
        "accept_tool_change": None,
    }
    return FakeControlHub(home, usual | answers)


@pytest.mark.parametrize("words", [("approve",), ("approve", "list")])
def test_calls_that_wait_are_listed(person: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    with hub(hub_home, get_approvals=[{**CALL, "ends_at": time.time() + 90}]):
        lines = person(*words).out.splitlines()
    assert lines[0].split() == ["ID", "SERVER", "TOOL", "CLIENT", "FOR", "WHY"]
    assert lines[1].split()[:4] == ["ab12", "files", "write_file", "Cursor"]


def test_lists_need_no_terminal_and_come_in_json(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, get_tool_changes=[CHANGE]):
        assert tooltray("approve", "list", "--json").json == whole("get_approvals", [CALL])
        assert tooltray("grants", "list", "--json").json == whole("get_grants", [GRANT])
        assert tooltray("grants", "preview", "files", "--json").json == whole("preview_grant", [TOOL])
        assert tooltray("grants", "changes", "--json").json == whole("get_tool_changes", [CHANGE])
        assert tooltray("grants", "remove", "g1", "--json").json == {"removed": "g1"}


def test_empty_lists_are_said(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, get_approvals=[], get_grants=[]):
        assert tooltray("approve").out == "No call is waiting for approval.\n"
        assert tooltray("grants", "list").out == "No standing permissions beyond each server's own.\n"
        assert tooltray("grants", "changes").out == "No tool has changed since it was allowed.\n"


@pytest.mark.parametrize(
    ("option", "answer"),
    [
        ((), "once"),
        (("--session",), "session"),
        (("--always",), "always"),
        (("--reads",), "reads"),
        (("--hour",), "hour"),
        (("--day",), "day"),
        (("--like",), "like"),
        (("--until-lock",), "lock"),
    ],
)
def test_a_call_is_allowed_after_the_person_has_read_what_it_is(
    person: Tooltray, hub_home: Home, option: tuple[str, ...], answer: str
) -> None:
    with hub(hub_home) as fake:
        result = person("approve", "ab12", *option)
    assert fake.params_of("answer_approval") == {"id": "ab12", "answer": answer}
    assert result.out.splitlines() == [
        "Cursor calls write_file of files (write).",
        "Project: /p",
        "Description: Writes",
        "It asks because: it writes",
        "Warning: odd",
        "The definition has changed:",
        "  -old",
        "  +new",
        "It would change:",
        "  +new",
        "Arguments:",
        "  {",
        '    "path": "x"',
        "  }",
        "Allow this? [y/N] Allowed.",
    ]
    assert result.code == 0


def test_a_call_is_allowed_with_other_arguments_after_the_person_has_read_what_it_is_then(person: Tooltray, hub_home: Home) -> None:
    shown = {**CALL, "arguments": '{\n  "path": "y"\n}', "diff": ["+other"]}
    with hub(hub_home, preview_approval=shown) as fake:
        result = person("approve", "ab12", "--hour", "--arguments", '{"path": "y"}')
    assert fake.params_of("preview_approval") == {"id": "ab12", "arguments": {"path": "y"}}
    assert fake.params_of("answer_approval") == {"id": "ab12", "answer": "hour", "arguments": {"path": "y"}}
    assert {"  +other", '    "path": "y"'} <= set(result.out.splitlines())
    assert "get_approval_diff" not in fake.methods()
    with hub(hub_home) as fake:
        assert "Invalid arguments: it must be a JSON object" in person("approve", "ab12", "--arguments", "path=y").err
        assert "--arguments needs an ID" in person("approve", "files", "write_file", "--arguments", "{}").err
    assert "answer_approval" not in fake.methods()


def test_a_file_that_would_be_overwritten_is_shown_as_it_differs_from_the_disk(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, get_approval_diff=["-old\x1b[2J", "+new"]) as fake:
        shown = person("approve", "ab12").out.splitlines()
    assert fake.params_of("get_approval_diff") == {"id": "ab12"}
    at = shown.index("It would change:")
    assert shown[at + 1 : at + 4] == ["  -old", "  +new", "Arguments:"]


def test_where_there_is_no_difference_to_ask_for_the_calls_own_is_shown(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as older:
        del older.answers["get_approval_diff"]
        assert "  +new" in person("approve", "ab12").out.splitlines()
    with hub(hub_home, get_approvals=[{**CALL, "diff": []}]) as fake:
        assert "It would change:" not in person("approve", "ab12").out
    assert "get_approval_diff" not in fake.methods()


@pytest.mark.parametrize("typed", ["", "\n", "n\n", "maybe\n"])
def test_what_is_no_yes_allows_nothing(person: Tooltray, hub_home: Home, typed: str) -> None:
    with hub(hub_home, get_tool_changes=[CHANGE]) as fake:
        for words in (("approve", "files", "write_file"), ("grants", "accept", "files", "write_file")):
            result = person(*words, typed=typed)
            assert (result.code, result.out.splitlines()[-1][-20:]) == (1, "Nothing was allowed.")
    assert {"answer_approval", "add_grant", "accept_tool_change"}.isdisjoint(fake.methods())


@pytest.mark.parametrize("typed", ["", "\n", "maybe\n"])
def test_a_call_waits_on_where_a_person_gives_no_answer(person: Tooltray, hub_home: Home, typed: str) -> None:
    with hub(hub_home) as fake:
        result = person("approve", "ab12", typed=typed)
    assert result.code == 1
    assert result.out.endswith("The call still waits. To decline it: tooltray approve decline ab12\n")
    assert "answer_approval" not in fake.methods()


def test_a_call_is_declined_by_a_no(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        result = person("approve", "ab12", "--always", typed="No\n")
    assert (result.code, result.out.splitlines()[-1]) == (1, "Allow this? [y/N] Declined.")
    assert fake.params_of("answer_approval") == {"id": "ab12", "answer": "refuse"}


def test_a_call_is_declined_without_a_question_and_without_a_terminal(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        result = tooltray("approve", "decline", "ab12")
    assert (result.code, result.out) == (0, "Declined.\n")
    assert fake.params_of("answer_approval") == {"id": "ab12", "answer": "refuse"}


def test_a_tool_of_a_server_called_refuse_can_be_allowed(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        assert person("approve", "--client", "Cursor", "--", "decline", "ab12").code == 0
    assert fake.params_of("add_grant")["server"] == "decline"
    assert fake.params_of("add_grant")["client"] == "Cursor"


@pytest.mark.parametrize("words", [("ab12",), ("decline", "ab12")])
def test_a_call_is_found_by_its_id_of_before_and_answered_as_it_is_now(person: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    with hub(hub_home, get_approvals=[{**CALL, "id": "cd34", "replaces": "ab12"}]) as fake:
        lines = person("approve", *words).out.splitlines()
    assert fake.params_of("answer_approval")["id"] == "cd34"
    has_changed = "write_file of files has changed since this call was declined; this is the call of the tool as it is now."
    assert lines[0] == (has_changed if len(words) == 1 else "Declined.")


def test_no_id_is_the_id_of_no_call(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, get_approvals=[{**CALL, "replaces": ""}]):
        assert person("approve", "").code == 1


def test_a_call_that_does_not_wait_is_named(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home):
        result = person("approve", "zz\x1b[1m")
    assert (result.code, result.err) == (1, "tooltray: Call 'zz' is not waiting for approval. List waiting calls: tooltray approve list\n")


@pytest.mark.parametrize(
    "words", [("approve", "ab12"), ("approve", "s", "t"), ("approve", "s", "--all-reads"), ("grants", "accept", "s", "t")]
)
def test_a_yes_needs_a_terminal_at_both_ends(person: Tooltray, tooltray: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    with hub(hub_home) as fake:
        for result in (tooltray(*words, stdin="y\n"), person(*words, sees=False)):
            assert result.code == 1
            assert "needs a person at a terminal" in result.err
    assert fake.calls == []


def test_a_tool_is_allowed_for_good_after_a_preview(person: Tooltray, hub_home: Home) -> None:
    tool = {**TOOL, "revision": "r1"}
    with hub(hub_home, preview_grant=[tool], get_tool_changes=[CHANGE, {**CHANGE, "tool": "other"}]) as fake:
        lines = person("approve", "files", "write_file").out.splitlines()
    assert lines[1:] == [
        "write_file  files   write  Writes",
        "1 tool.",
        "write_file of files has changed since it was allowed:",
        "  -Reads",
        "  +Sends",
        "Warning: odd",
        "For every AI client, until you revoke it.",
        "Allow this? [y/N] Allowed. To revoke it: tooltray grants remove g1",
    ]
    wanted = {"server": "files", "kind": "tool", "tool": "write_file", "client": ""}
    assert fake.params_of("preview_grant") == wanted
    assert fake.params_of("add_grant") == {**wanted, "expires_in_s": None, "seen": "r1"}


def test_what_is_odd_in_a_tool_is_said_before_a_lasting_yes_and_in_a_preview(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, preview_grant=[TOOL | {"warnings": ["its description\x07 is odd"]}]):
        for words in (("approve", "files", "write_file"), ("grants", "preview", "files")):
            assert "Warning: write_file: its description is odd" in person(*words).out.splitlines()


def test_all_reads_are_allowed_for_a_client_and_a_time(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        result = person("approve", "files", "--all-reads", "--client", "Cursor", "--for", "8h")
    assert "For Cursor, until 2" in result.out
    assert fake.params_of("add_grant") == {"server": "files", "kind": "reads", "tool": "", "client": "Cursor", "expires_in_s": 28800.0}


def test_a_tool_is_allowed_until_the_screen_locks_or_a_time_is_over(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        result = person("approve", "files", "write_file", "--until-lock", "--for", "1h")
    assert "For every AI client, until the screen locks" in result.out
    wanted = {"server": "files", "kind": "tool", "tool": "write_file", "client": "", "expires_in_s": 3600.0, "until": "lock"}
    assert fake.params_of("add_grant") == wanted


@pytest.mark.parametrize(
    ("grant", "ends"),
    [
        ({"until": "lock"}, "the screen locks"),
        ({"session": "s1"}, "the session ends"),
        ({"until": "lock", "expires_at": 3700.0}, r" \(1 h left\)"),
        ({"expires_at": 50.0}, r" \([345]\d s left\)"),
        ({"expires_at": 1770.0}, r" \(29 min left\)"),
        ({"expires_at": 2 * 86_400.0 + 100.0}, r" \(2 d left\)"),
        ({"expires_at": -5.0}, r" \(1 s left\)"),
    ],
)
def test_live_grants_are_listed_with_their_time_left(tooltray: Tooltray, hub_home: Home, grant: dict[str, Any], ends: str) -> None:
    at = {"expires_at": time.time() + grant["expires_at"]} if "expires_at" in grant else {}
    with hub(hub_home, get_grants=[{**GRANT, **grant, **at}]):
        line = tooltray("grants", "list").out.splitlines()[1]
    assert re.search(f"{ends}$", line)
    assert ("the screen locks or " in line) is (grant.keys() >= {"until", "expires_at"})


def test_grants_are_listed_in_words(tooltray: Tooltray, hub_home: Home) -> None:
    reads = {**GRANT, "id": "g2", "kind": "reads", "client": "Cursor", "session": "s1", "expires_at": 1e300, "held_tools": ["a", "b"]}
    with hub(hub_home, get_grants=[GRANT, reads]):
        lines = tooltray("grants", "list").out.splitlines()
    assert lines[1].startswith("g1  files   write_file           every client           19")
    assert lines[1].endswith("  you revoke it")
    assert lines[2].endswith("a, b")
    assert "all read-only tools  Cursor (this session)" in lines[2]


def test_a_grant_is_taken_back_and_a_preview_printed(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home) as fake:
        assert tooltray("grants", "remove", "g1").out == "Revoked.\n"
        assert tooltray("grants", "preview", "files", "write_file").out.splitlines()[-1] == "1 tool."
    assert fake.params_of("preview_grant") == {"server": "files", "kind": "tool", "tool": "write_file"}


def test_a_preview_has_one_short_line_for_each_tool(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, preview_grant=[{**TOOL, "description": "Writes\n\nand so on. " * 50}, TOOL]):
        lines = tooltray("grants", "preview", "files").out.splitlines()
    assert len(lines) == 4
    assert lines[1].endswith("…")
    assert len(lines[1]) < 150
    assert lines[2].endswith("  Writes")


def test_a_changed_tool_is_accepted_after_the_person_has_seen_how_it_differs(person: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, get_tool_changes=[{**CHANGE, "revision": "r1"}]) as fake:
        assert "  +Sends" in person("grants", "changes").out.splitlines()
        result = person("grants", "accept", "files", "write_file")
        other = person("grants", "accept", "files", "other")
    assert result.out.splitlines()[-1] == "Allow this? [y/N] Accepted."
    assert fake.params_of("accept_tool_change") == {"server": "files", "tool": "write_file", "seen": "r1"}
    assert "'other' has not changed" in other.err


@pytest.mark.parametrize(
    "words",
    [
        ("a", "b", "c"),
        ("ab12", "--client", "c"),
        ("ab12", "--for", "1h"),
        ("decline", "ab12", "--client", "c"),
        ("decline", "ab12", "--for", "1h"),
        ("a", "b", "--once"),
        ("a", "b", "--all-reads"),
        ("--all-reads",),
        ("a", "--all-reads", "--reads"),
        ("--always",),
        ("--until-lock",),
        ("decline", "ab12", "--until-lock"),
        ("ab12", "--hour", "--until-lock"),
        ("a", "b", "--for", "0s"),
        ("a", "b", "--for", "1y"),
        ("a", "b", "--for", "1.5h"),
    ],
)
def test_words_that_do_not_go_together_are_refused(person: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    result = person("approve", *words)
    assert result.code == 2
    assert "usage: tooltray approve" in result.err


@pytest.mark.parametrize("words", [("ab12",), ("decline", "ab12"), ("a", "b"), ("a", "--all-reads")])
def test_what_a_person_has_to_read_comes_in_no_json(person: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    result = person("approve", *words, "--json")
    assert (result.code, "--json works only with the list: approving needs a user who has read the request" in result.err) == (2, True)


MODES = [{"client": "other", "auto_approve": ["all"]}, {"client": "Cursor", "auto_approve": ["write"]}]


@pytest.mark.parametrize(
    ("words", "rules", "said"),
    [
        (("read", "names:get_*"), ["read", "names:get_*"], "read, names:get_*"),
        (("--default",), None, "each server's autoApprove"),
    ],
)
def test_the_rules_of_an_ai_client_are_chosen_by_a_person(
    person: Tooltray, hub_home: Home, words: tuple[str, ...], rules: Any, said: str
) -> None:
    with hub(hub_home, get_client_modes=MODES, set_client_auto_approve=None) as here:
        result = person("clients", "approve", "Cursor", *words)
        assert person("clients", "approve", "Cursor", *words, typed="\n").code == 1
    assert f"Runs without asking for Cursor: {said} (now: write)." in result.out
    assert result.out.endswith(f"For Cursor: {said}.\n")
    assert [call for call in here.calls if call[0] != "get_client_modes"] == [
        ("set_client_auto_approve", {"client": "Cursor", "rules": rules})
    ]


def test_an_ai_client_is_asked_about_each_call_without_a_terminal(tooltray: Tooltray, hub_home: Home) -> None:
    with hub(hub_home, get_client_modes=[], set_client_auto_approve=None) as here:
        assert tooltray("clients", "approve", "Cursor", "--nothing").out == "For Cursor: nothing.\n"
        for words in (("all",), ("--default",)):
            refused = tooltray("clients", "approve", "Cursor", *words)
            assert (refused.code, "needs a person at a terminal" in refused.err) == (1, True)
    assert [call for call in here.calls if call[0] != "get_client_modes"] == [
        ("set_client_auto_approve", {"client": "Cursor", "rules": []})
    ]


@pytest.mark.parametrize(("client", "rules"), [("other", ("read", "names:get_*")), ("Cursor", ("write",))])
def test_fewer_calls_of_an_ai_client_go_through_without_a_yes(
    tooltray: Tooltray, hub_home: Home, client: str, rules: tuple[str, ...]
) -> None:
    with hub(hub_home, get_client_modes=MODES, set_client_auto_approve=None) as here:
        assert tooltray("clients", "approve", client, *rules).code == 0
        assert here.params_of("set_client_auto_approve") == {"client": client, "rules": list(rules)}
        wider = tooltray("clients", "approve", "unknown", "read")
    assert (wider.code, "needs a person at a terminal" in wider.err) == (1, True)


@pytest.mark.parametrize("words", [(), ("read", "--nothing"), ("--nothing", "--default")])
def test_one_choice_of_rules_is_needed(tooltray: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    refused = tooltray("clients", "approve", "Cursor", *words)
    assert (refused.code, "give RULE ..., --nothing or --default" in refused.err) == (2, True)


# what goes through of one server


@pytest.mark.parametrize(
    ("entry", "now"),
    [({}, "read"), ({"autoApprove": []}, "nothing"), ({"autoApprove": "all"}, "read"), ({"autoApprove": ["write"]}, "write")],
)
def test_the_rules_of_a_server_are_chosen_by_a_person(person: Tooltray, hub_home: Home, entry: Any, now: str) -> None:
    described = {"name": "files", "entry": {"command": "x"}, "counts": {"command": "x", **entry}}
    with hub(hub_home, get_server_entry=described, set_server_auto_approve=None) as fake:
        assert person("servers", "approve", "files", "read", "write_file", typed="n\n").code == 1
        assert "set_server_auto_approve" not in fake.methods()
        result = person("servers", "approve", "files", "read", "write_file", "read")
    assert f"Runs without asking on files: read, write_file (now: {now})." in result.out
    assert result.out.endswith("For files: read, write_file.\n")
    assert fake.params_of("set_server_auto_approve") == {"server": "files", "rules": ["read", "write_file"]}


@pytest.mark.parametrize(
    ("before", "rules"),
    [(["all"], ["read"]), (["all"], ["names:*"]), (["read", "write"], ["hint:idempotent"]), (["read", "a", "b"], ["b", "read"]), ([], [])],
)
def test_fewer_calls_of_a_server_go_through_without_a_yes(tooltray: Tooltray, hub_home: Home, before: list[str], rules: list[str]) -> None:
    described = {"name": "files", "entry": {}, "counts": {"autoApprove": before}}
    with hub(hub_home, get_server_entry=described, set_server_auto_approve=None) as fake:
        result = tooltray("servers", "approve", "files", *(rules or ["--nothing"]))
    assert (result.code, result.err) == (0, "")
    assert fake.params_of("set_server_auto_approve") == {"server": "files", "rules": rules}


def test_a_server_asks_about_each_call_without_a_terminal_and_without_a_hub(tooltray: Tooltray, hub_home: Home) -> None:
    tooltray("servers", "add", "files", "--", "npx")
    assert tooltray("servers", "approve", "files", "--nothing").out == "For files: nothing.\n"
    refused = tooltray("servers", "approve", "files", "all", stdin="y\n")
    assert (refused.code, "needs a person at a terminal" in refused.err) == (1, True)
    assert json.loads(hub_home.settings.read_bytes())["mcpServers"]["files"]["autoApprove"] == []


@pytest.mark.parametrize("words", [(), ("read", "--nothing"), ("",)])
def test_one_choice_of_rules_of_a_server_is_needed(tooltray: Tooltray, hub_home: Home, words: tuple[str, ...]) -> None:
    assert tooltray("servers", "approve", "files", *words).code == 2


def test_rules_that_mean_nothing_and_servers_that_are_not_there_are_refused(person: Tooltray, hub_home: Home) -> None:
    odd = person("servers", "approve", "files", "hint:odd")
    absent = person("servers", "approve", "files", "read")
    assert (odd.code, "Some rules for files are unknown" in odd.err) == (1, True)
    assert (absent.code, "Server 'files' not found" in absent.err) == (1, True)


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


def rule_hub(home: Home, **answers: Any) -> FakeControlHub:
    usual = {"preview_rule": PREVIEW, "add_rule": MADE, "get_grants": [MADE], "answer_approval": None}
    return FakeControlHub(home, usual | answers)


def test_a_rule_is_said_in_words_and_added_after_a_yes(person: Tooltray, hub_home: Home) -> None:
    with rule_hub(hub_home) as fake:
        result = person("grants", "rule", "files", json.dumps(RULE), "--client", "Cursor", "--for", "1h")
    for said in (
        "Runs without asking: write_file, where path is x.",
        "Warning: no folder",
        "Warning: mind",
        "Matches 1 of 2 recent calls.",
        "3 more could not be checked: their arguments are not recorded.",
        "tooltray grants remove g1",
    ):
        assert said in result.out
    assert "\x1b" not in result.out
    assert fake.params_of("add_rule") == {"server": "files", "rule": RULE, "client": "Cursor", "expires_in_s": 3600.0}


def test_a_rule_may_end_when_the_screen_locks(person: Tooltray, hub_home: Home) -> None:
    with rule_hub(hub_home) as fake:
        person("grants", "rule", "files", json.dumps(RULE), "--until-lock")
    assert fake.params_of("add_rule") == {"server": "files", "rule": RULE, "client": "", "expires_in_s": None, "until": "lock"}


def test_a_preview_and_a_no_allow_nothing(tooltray: Tooltray, person: Tooltray, hub_home: Home) -> None:
    with rule_hub(hub_home, preview_rule={**PREVIEW, "calls": [], "unknown": 0}) as fake:
        assert "No recent calls of this tool." in tooltray("grants", "rule", "files", json.dumps(RULE), "--preview").out
        assert tooltray("grants", "rule", "files", json.dumps(RULE), "--preview", "--json").json["words"] == PREVIEW["words"]
        assert person("grants", "rule", "files", json.dumps(RULE), typed="n\n").out.endswith("Nothing was allowed.\n")
        assert tooltray("grants", "rule", "files", json.dumps(RULE)).code == 1
    assert "add_rule" not in fake.methods()


@pytest.mark.parametrize("text", ["git status", "[]", "[" * 100_000, '"x"'])
def test_what_is_no_rule_is_refused(person: Tooltray, hub_home: Home, text: str) -> None:
    with rule_hub(hub_home) as fake:
        result = person("grants", "rule", "files", text)
    assert result.code == 1
    assert "it must be a JSON object" in result.err
    assert "preview_rule" not in fake.methods()


def test_the_narrowest_rule_of_a_call_is_read_before_the_yes(person: Tooltray, hub_home: Home) -> None:
    offered = [{"answer": f"rule-{number}", "title": "x", "words": f"rule {number}\x1b", "rule": RULE} for number in (1, 2)]
    with rule_hub(hub_home, get_approvals=[{**CALL, "rules": offered}]) as fake:
        result = person("approve", "ab12", "--rule")
    assert fake.params_of("answer_approval") == {"id": "ab12", "answer": "rule-1"}
    assert "Runs without asking from now on, for Cursor:\n  rule 1" in result.out
    with rule_hub(hub_home, get_approvals=[CALL]) as fake:
        result = person("approve", "ab12", "--rule")
    assert "This call cannot become a rule" in result.err
    assert "answer_approval" not in fake.methods()


def test_rules_are_listed_in_words(tooltray: Tooltray, hub_home: Home) -> None:
    with rule_hub(hub_home):
        assert "write_file, where path is x" in tooltray("grants", "list").out
