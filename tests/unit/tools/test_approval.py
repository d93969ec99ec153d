"""tools/approval.py"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.tools.approval import READ_VERBS, WRITE_VERBS, category, decide, entry_for

NOT_HINTS = [None, "readOnlyHint", ["readOnlyHint"], 1, True, {}, {"title": "get"}, {"readOnlyHint": "true"}, {"readOnlyHint": 1}]


@pytest.mark.parametrize("annotations", NOT_HINTS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("get_user", "read"),
        ("listFiles", "read"),
        ("HTTPGet", "read"),
        ("search", "read"),
        ("ｒead-file", "read"),
        ("directory_tree", "read"),
        ("read2", "read"),
        ("delete_user", "write"),
        ("sing_a_song", "write"),
        ("", "write"),
        ("读取文件", "write"),
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
        "get_and_delete",
        "list_remove",
        "budget_update_get",
        "getOrCreate",
        "read2write",
        "list.RUN",
        "fetchDELETEall",
        "get_DELETEfile",
        "Ｗrite_list",
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


def test_an_entry_with_the_prefix_always_means_the_name_behind_it() -> None:
    assert decide("s", "x", None, ("tool:x",)).is_approved
    assert not decide("s", "tool:x", None, ("tool:x",)).is_approved
    assert decide("s", "tool:x", None, ("tool:tool:x",)).is_approved


def test_what_is_approved_has_nothing_to_say() -> None:
    decision = decide("s", "get_it", None, ("read",))
    assert (decision.message, decision.hint) == ("", "")


def test_a_refusal_says_which_tool_of_which_server_does_what_and_how_to_allow_it() -> None:
    decision = decide("файлы", "delete_file", None, ["read"])
    assert '"delete_file"' in decision.message
    assert '"файлы"' in decision.message
    assert "'write'" in decision.message
    for part in ('"write"', '"delete_file"', '"autoApprove"', '"файлы"', "settings.json", "card"):
        assert part in decision.hint
    assert "only reads" in decide("s", "get_it", None, []).message


@given(name=st.text(st.characters()), server=st.text(st.characters()), annotations=st.none() | st.dictionaries(st.text(), st.booleans()))
def test_doing_what_the_hint_says_allows_the_call_whatever_the_tool_is_called(name: str, server: str, annotations: Any) -> None:
    refused = decide(server, name, annotations, [])
    assert not refused.is_approved
    text = (refused.message + refused.hint).encode().decode()  # can be sent: no halves of surrogate pairs
    assert not any(letter < " " for letter in text)
    alone, whole = entry_for(name), refused.category
    assert json.dumps(alone, ensure_ascii=False).encode("utf-8", "backslashreplace").decode() in refused.hint
    assert decide(server, name, annotations, [alone]).is_approved
    assert decide(server, name, annotations, [whole]).is_approved
    assert decide(server, name, annotations, ["all"]).is_approved
