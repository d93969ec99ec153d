"""auto_approve.py"""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.catalogue.auto_approve import (
    DESTROYING_VERBS,
    READ_VERBS,
    REPEATING_VERBS,
    WRITE_VERBS,
    category,
    choice,
    decide,
    entry_for,
    fits,
    is_about_one,
    problem_of,
    with_choice,
)

NOT_HINTS = [None, "readOnlyHint", ["readOnlyHint"], 1, True, {}, {"title": "get"}, {"readOnlyHint": "true"}, {"readOnlyHint": 1}]


@pytest.mark.parametrize("annotations", NOT_HINTS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("get_user", "read"), ("listFiles", "read"), ("HTTPGet", "read"), ("search", "read"), ("ｒead-file", "read")),
        *(("directory_tree", "read"), ("read2", "read"), ("delete_user", "write"), ("sing_a_song", "write"), ("", "write")),
        *(("读取文件", "write"),),
    ],
)
def test_without_usable_hints_the_name_decides_and_unknown_is_write(name: str, expected: str, annotations: Any) -> None:
    assert category(name, annotations) == expected


@pytest.mark.parametrize("name", ["target_locked", "budget", "forget_all", "thread_id", "blisters", "widget", "readings_of_meters"])
def test_verbs_count_only_as_whole_words(name: str) -> None:
    assert category(name, None) == "write"


@pytest.mark.parametrize(
    "name",
    [
        *("get_and_delete", "list_remove", "budget_update_get", "getOrCreate", "read2write", "list.RUN", "fetchDELETEall"),
        *("get_DELETEfile", "Ｗrite_list"),
    ],
)
@pytest.mark.parametrize("annotations", [None, {"readOnlyHint": True}])
def test_a_write_verb_wins_over_a_read_verb_and_over_a_hint(name: str, annotations: Any) -> None:
    assert category(name, annotations) == "write"


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({"readOnlyHint": True}, "read"),
        ({"readOnlyHint": True, "destructiveHint": False}, "read"),
        ({"readOnlyHint": False}, "write"),
        ({"destructiveHint": True}, "write"),
        ({"readOnlyHint": True, "destructiveHint": True}, "write"),
        ({"readOnlyHint": True, "destructiveHint": "yes"}, "write"),
        ({"readOnlyHint": True, "destructiveHint": "false"}, "write"),
        ({"readOnlyHint": True, "destructiveHint": 1}, "write"),
        ({"readOnlyHint": True, "destructiveHint": None}, "read"),
        ({"destructiveHint": False}, "read"),
    ],
)
def test_hints_come_before_a_harmless_name(annotations: dict[str, Any], expected: str) -> None:
    assert category("get_weather", annotations) == expected


def test_a_hint_makes_a_name_without_any_verb_readable() -> None:
    assert category("echo", {"readOnlyHint": True}) == "read"
    assert category("echo", {"destructiveHint": False}) == "write"


def test_no_verb_is_in_both_lists() -> None:
    assert not READ_VERBS & WRITE_VERBS


@pytest.mark.parametrize(
    ("auto_approve", "is_reading_approved", "is_writing_approved"),
    [
        ((), False, False),
        (("read",), True, False),
        (("write",), False, True),
        (("read", "write"), True, True),
        (("all",), True, True),
        (("get_it",), True, False),
        (("tool:get_it",), True, False),
        (("tool:drop_it", "other"), False, True),
        (("read:get_it", "names:"), False, False),
        (("READ", "All", "get", "get_", "tool:"), False, False),
        (("tool:all", "tool:read", "tool:write"), False, False),
    ],
)
def test_auto_approve_names_categories_or_tools(
    auto_approve: tuple[str, ...], is_reading_approved: bool, is_writing_approved: bool
) -> None:
    reading, writing = decide("s", "get_it", None, auto_approve), decide("s", "drop_it", None, auto_approve)
    assert (reading.is_approved, reading.category) == (is_reading_approved, "read")
    assert (writing.is_approved, writing.category) == (is_writing_approved, "write")


@pytest.mark.parametrize("name", ["all", "write"])
def test_a_tool_that_is_called_like_a_category_is_approved_only_with_the_prefix(name: str) -> None:
    assert not decide("s", name, None, ("read",)).is_approved
    assert decide("s", name, None, (f"tool:{name}",)).is_approved


def test_a_tool_called_read_that_writes_is_not_approved_by_its_bare_name() -> None:
    writes = {"readOnlyHint": False}
    assert not decide("s", "read", writes, ("read",)).is_approved
    assert decide("s", "read", writes, ("tool:read",)).is_approved
    assert decide("s", "read:it", writes, ("read:it",)).is_approved


def test_an_entry_with_the_prefix_always_means_the_name_behind_it() -> None:
    assert decide("s", "x", None, ("tool:x",)).is_approved
    assert not decide("s", "tool:x", None, ("tool:x",)).is_approved
    assert decide("s", "tool:x", None, ("tool:tool:x",)).is_approved


@pytest.mark.parametrize("name", ["get_user", "ask:me", "read", "all"])
@pytest.mark.parametrize("rules", [("all",), ("read", "write"), ("names:*",), ("tool:get_user", "tool:ask:me", "tool:read", "tool:all")])
def test_a_tool_that_is_excepted_asks_whatever_else_is_allowed(name: str, rules: tuple[str, ...]) -> None:
    excepting = with_choice(name, "ask", rules)
    decision = decide("s", name, None, excepting)
    assert (decision.is_approved, decision.is_excepted, decision.is_plain_read) == (False, True, False)
    assert decide("s", "other", None, rules) == decide("s", "other", None, excepting)
    assert problem_of("s", excepting, ()) is None


@pytest.mark.parametrize("name", ["get_user", "delete", "ask:me", "read", "tool:x", "names:*"])
@pytest.mark.parametrize("before", [(), ("all",), ("read", "ask:delete"), ("tool:get_user",)])
def test_what_is_chosen_for_one_tool_counts_and_is_taken_back(name: str, before: tuple[str, ...]) -> None:
    allowed, asking = with_choice(name, "always", before), with_choice(name, "ask", before)
    assert (choice(name, allowed), decide("s", name, None, allowed).is_approved) == ("always", True)
    assert (choice(name, asking), decide("s", name, None, asking).is_approved) == ("ask", False)
    assert with_choice(name, "ask", allowed) == asking
    none = with_choice(name, "default", asking)
    assert (choice(name, none), [rule for rule in before if rule in none]) == ("default", list(none))


@pytest.mark.parametrize("entry", ["get_it", "tool:all", "ask:delete", "wat"])
def test_a_name_is_about_one_tool(entry: str) -> None:
    assert is_about_one(entry)


@pytest.mark.parametrize("entry", ["all", "read", "names:x*", "hint:idempotent", "hint:odd", ""])
def test_a_category_a_pattern_and_a_hint_are_not(entry: str) -> None:
    assert not is_about_one(entry)


def test_an_approval_names_the_rule_that_gave_it() -> None:
    assert [decide("s", name, None, ("names:x*", "read", "y")).rule for name in ("xy", "get_a", "y", "z")] == ["names:x*", "read", "y", ""]


def test_what_is_approved_has_nothing_to_say() -> None:
    decision = decide("s", "get_it", None, ("read",))
    assert decision.message == ""


def test_a_refusal_says_which_tool_of_which_server_does_what_and_not_how_to_allow_it() -> None:
    decision = decide("файлы", "delete_file", None, ["read"])
    assert '"delete_file"' in decision.message
    assert '"файлы"' in decision.message
    assert "may write" in decision.message
    assert not any(recipe in decision.message for recipe in ("autoApprove", "settings.json", "tooltray"))
    assert "only reads" in decide("s", "get_it", None, []).message


@given(name=st.text(st.characters()), server=st.text(st.characters()), annotations=st.none() | st.dictionaries(st.text(), st.booleans()))
def test_the_entry_for_a_tool_and_its_category_allow_the_call_whatever_the_tool_is_called(name: str, server: str, annotations: Any) -> None:
    refused = decide(server, name, annotations, [])
    assert not refused.is_approved
    text = refused.message.encode().decode()  # can be sent: no halves of surrogate pairs
    assert not any(letter < " " for letter in text)
    alone, whole = entry_for(name), refused.category
    assert decide(server, name, annotations, [alone]).is_approved
    assert decide(server, name, annotations, [whole]).is_approved
    assert decide(server, name, annotations, ["all"]).is_approved


# rules besides categories and names

HARMLESS = {"idempotentHint": True, "openWorldHint": False, "destructiveHint": False}
HINT_RULES = ("hint:idempotent", "hint:closed-world", "hint:non-destructive")


def is_approved(name: str, annotations: Any, *auto_approve: str) -> bool:
    return decide("s", name, annotations, auto_approve).is_approved


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("names:get_*", ["get_", "get_user", "get_*"], ["get", "Get_user", "forget_user", "xget_user"]),
        ("names:*_issue", ["_issue", "close_issue"], ["close_issues", "issue"]),
        ("names:*", ["", "anything", "a\nb", "工具"], []),
        ("names:a*b*c", ["abc", "a-b-c", "abbbc", "abcbc"], ["ac", "acb", "abcd", "ab"]),
        ("names:aa*aa", ["aaaa", "aa-aa"], ["aaa", "aa"]),
        ("names:a*bc*bc", ["abcbc", "axbcxbc"], ["abc"]),
        ("names:whole", ["whole"], ["whole_", "wholes", "who"]),
        ("names:a.c", ["a.c"], ["abc"]),
        ("names:[ab]?", ["[ab]?"], ["ab", "a", "b1"]),
        ("names:ns:*", ["ns:tool"], ["ns"]),
        ("names:**", ["", "x"], []),
    ],
)
def test_a_pattern_of_names_covers_whole_names_and_knows_the_asterisk_alone(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [name for name in fitting if not is_approved(name, None, pattern)] == []
    assert [name for name in others if is_approved(name, None, pattern)] == []


@given(parts=st.lists(st.text(st.characters()), min_size=1), fillings=st.data())
def test_whatever_stands_in_the_places_of_its_asterisks_fits_a_pattern(parts: list[str], fillings: Any) -> None:
    pattern = "*".join(parts)
    name = "".join(part if part != "*" else fillings.draw(st.text(max_size=5)) for part in re.split(r"(\*)", pattern))
    assert fits(name, pattern)


@given(name=st.text("ab*", max_size=8), pattern=st.text("ab*", max_size=8))
def test_a_pattern_fits_what_the_same_regular_expression_would(name: str, pattern: str) -> None:
    assert fits(name, pattern) == bool(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL))


def test_a_pattern_with_many_asterisks_is_decided_at_once() -> None:
    assert not fits("a" * 50_000, "a*" * 1_000 + "b*")


@pytest.mark.parametrize(
    ("rule", "annotations"),
    [
        ("hint:idempotent", {"idempotentHint": True}),
        ("hint:closed-world", {"openWorldHint": False}),
        ("hint:non-destructive", {"destructiveHint": False}),
    ],
)
def test_a_hint_rule_covers_the_tools_whose_server_gives_that_hint(rule: str, annotations: dict[str, Any]) -> None:
    assert is_approved("assign_label", annotations, rule)
    ((hint, value),) = annotations.items()
    for other in ({}, None, {hint: not value}, {hint: str(value)}, {hint: int(value)}, {hint: None}, "text", [hint]):
        assert not is_approved("assign_label", other, rule)
    assert not any(is_approved("assign_label", annotations, each) for each in HINT_RULES if each != rule)


@pytest.mark.parametrize("rule", HINT_RULES)
@pytest.mark.parametrize("name", ["delete_file", "removeAll", "get_and_wipe", "run_command", "DROPtable", "overwrite"])
def test_no_hint_speaks_for_a_name_that_destroys(rule: str, name: str) -> None:
    assert not is_approved(name, HARMLESS, rule)


@pytest.mark.parametrize("rule", ["hint:idempotent", "hint:closed-world"])
@pytest.mark.parametrize("warning", [True, "yes", "false", 1])
def test_no_hint_speaks_for_a_tool_of_which_its_server_warns(rule: str, warning: Any) -> None:
    assert not is_approved("assign_label", {**HARMLESS, "destructiveHint": warning}, rule)


@pytest.mark.parametrize("name", ["send_message", "appendLine", "create_issue", "toggle_light"])
def test_what_a_second_call_would_do_again_is_not_idempotent(name: str) -> None:
    assert not is_approved(name, HARMLESS, "hint:idempotent")


@pytest.mark.parametrize("name", ["fetch_page", "uploadFile", "send_mail", "open_url", "web_search"])
def test_what_reaches_out_by_its_name_is_not_closed(name: str) -> None:
    assert not is_approved(name, HARMLESS, "hint:closed-world")


def test_tools_that_write_without_destroying_are_not_those_that_read() -> None:
    reads = {"readOnlyHint": True, "destructiveHint": False}
    assert not is_approved("get_it", reads, "hint:non-destructive")
    assert is_approved("get_it", reads, "hint:non-destructive", "read")


@given(name=st.text(), annotations=st.none() | st.dictionaries(st.sampled_from(["readOnlyHint", *HARMLESS]), st.booleans()))
def test_without_a_hint_of_its_server_no_hint_rule_covers_a_tool(name: str, annotations: Any) -> None:
    given_hints = {hint for hint, value in (annotations or {}).items() if value is HARMLESS.get(hint)}
    for rule, hint in zip(HINT_RULES, HARMLESS, strict=True):
        assert hint in given_hints or not is_approved(name, annotations, rule)


@pytest.mark.parametrize("name", ["hint:idempotent", "hint:odd", "names:*", "tool:", "names:", "hint:", ""])
def test_a_tool_that_is_called_like_a_rule_is_named_with_the_prefix(name: str) -> None:
    assert entry_for(name) == f"tool:{name}"
    assert is_approved(name, None, f"tool:{name}")


def test_a_name_with_a_colon_that_begins_like_no_rule_is_a_name() -> None:
    assert entry_for("github:create") == "github:create"
    assert is_approved("github:create", None, "github:create")


# entries that mean nothing


@pytest.mark.parametrize("entry", ["hint:readonly", "hint:idempotent ", "hint:", "hint:Idempotent", "", "hint:idempotent:x"])
def test_an_entry_that_means_nothing_approves_nothing_and_is_reported(entry: str) -> None:
    for name in (entry, "get_it", "readonly", "x"):
        assert not is_approved(name, HARMLESS, entry)
    problem = problem_of("files", ["read", entry], {entry, "get_it"})
    assert problem
    assert problem.title == "autoApprove of 'files' has an entry that means nothing"
    assert (json.dumps(entry) if entry else "empty") in problem.message
    for part in ("settings.json", "hint:closed-world", "names:...", "tool:...", "read", "all"):
        assert part in problem.hint


@pytest.mark.parametrize("entry", ["READ", "All", " write", "get_*", "name:get", "Tool:x", "HINT:idempotent", "category:read"])
def test_what_looks_like_a_rule_and_is_none_is_reported_unless_a_tool_is_called_that(entry: str) -> None:
    assert problem_of("files", [entry], {"get_it"})
    assert problem_of("files", [entry], ())
    assert not problem_of("files", [entry], {"get_it", entry})
    assert is_approved(entry, None, entry)


@pytest.mark.parametrize("entry", ["tool:", "names:"])
def test_a_beginning_with_nothing_behind_it_is_reported_unless_a_tool_has_no_name(entry: str) -> None:
    problem = problem_of("files", [entry], {"get_it"})
    assert problem
    assert entry in problem.message
    assert not problem_of("files", [entry], {""})


@pytest.mark.parametrize(
    "entry", ["all", "read", "write", "get_it", "tool:gone", "tool:all", "names:x*", "hint:idempotent", "hint:non-destructive"]
)
def test_what_means_something_is_not_reported(entry: str) -> None:
    assert problem_of("files", [entry], {"get_it"}) is None


def test_one_problem_names_each_entry_of_a_server_once() -> None:
    problem = problem_of("files", ["hint:a", "all", "hint:b", "hint:a"], ())
    assert problem
    assert problem.title == "autoApprove of 'files' has entries that mean nothing"
    assert problem.message == '"hint:a" is not a rule; "hint:b" is not a rule'


@given(name=st.text(st.characters()))
def test_the_entry_for_a_known_tool_is_never_reported(name: str) -> None:
    assert problem_of("s", [entry_for(name)], {name}) is None


def test_every_word_that_destroys_or_repeats_writes() -> None:
    assert DESTROYING_VERBS <= WRITE_VERBS
    assert REPEATING_VERBS <= WRITE_VERBS


def test_a_word_that_is_no_tool_of_the_server_is_reported_once_its_tools_are_known() -> None:
    assert problem_of("files", ["wat"], ()) is None
    problem = problem_of("files", ["wat", "read"], {"get_it"})
    assert problem
    assert problem.message == '"wat" is neither a rule nor a tool of this server'
