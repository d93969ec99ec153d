"""diffs.py"""

from typing import Any

import pytest

from tooltray.consent.approvals.diffs import (
    LONGEST_LINE,
    MOST_EDITS,
    MOST_LINES,
    of_arguments,
    of_definitions,
    of_file,
    of_texts,
    overwritten_file,
)


def clean(text: str) -> str:
    return text.replace("hunter2", "***")


def diff(arguments: Any) -> tuple[str, ...]:
    return of_arguments(arguments, clean)


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a", "old_string": "one\ntwo", "new_string": "one\n2"},
        {"path": "a", "edits": [{"oldText": "one\ntwo", "newText": "one\n2"}]},
        {"path": "a", "changes": [{"search": "one\ntwo", "replace": "one\n2"}, "no edit"]},
    ],
)
def test_an_edit_is_shown_as_what_goes_and_what_comes(arguments: Any) -> None:
    assert diff(arguments) == (" one", "-two", "+2")


def test_several_edits_stand_apart() -> None:
    edits = [{"old_str": "a", "new_str": "b"}, {"old_str": "c", "new_str": ""}]
    assert diff({"edits": edits}) == ("-a", "+b", " …", "-c")


def test_what_a_file_gets_is_all_new_and_a_patch_stands_as_it_is() -> None:
    assert diff({"file_path": "x", "content": "a\n\nb"}) == ("+a", "+", "+b")
    assert diff({"patch": "@@ -1 +1 @@\n-a\n+b\n c"}) == (" @@ -1 +1 @@", "-a", "+b", " c")


@pytest.mark.parametrize(
    "arguments", [None, [], {}, {"content": "no file"}, {"path": "x"}, {"old_string": "a"}, {"edits": "x"}, {"path": 1, "content": "x"}]
)
def test_what_is_no_edit_is_not_shown_as_one(arguments: Any) -> None:
    assert diff(arguments) == ()


def test_the_file_that_a_call_writes_whole_is_known_by_its_arguments() -> None:
    assert overwritten_file({"file_path": "x", "content": "a"}) == "x"
    assert [overwritten_file(each) for each in (None, {"path": "x"}, {"content": "a"}, {"path": "x", "edits": []})] == [""] * 4


def test_a_file_and_a_text_are_compared_with_what_they_were() -> None:
    assert of_file({"path": "x", "content": "a\nhunter2\nb"}, "hunter2\nb\nc", clean) == ("+a", " ***", " b", "-c")
    assert of_texts("a\nb", "a\nc") == (" a", "-b", "+c")


def test_equal_parts_are_left_out_between_changes() -> None:
    before = [f"{n}" for n in range(40)]
    after = ["x", *before[1:30], "y", *before[31:]]
    lines = diff({"old_string": "\n".join(before), "new_string": "\n".join(after)})
    assert lines[:2] == ("-0", "+x")
    assert lines.count(" …") == 1
    assert len(lines) < 20


def test_a_change_far_down_says_that_something_stands_above() -> None:
    before = [f"{n}" for n in range(40)]
    assert diff({"old_string": "\n".join(before), "new_string": "\n".join([*before[:30], "x"])})[0] == " …"


def test_secrets_and_hidden_characters_do_not_pass() -> None:
    assert diff({"path": "p", "content": "hunter2\u202e"}) == ("+***\\u202e",)


def test_what_is_long_is_cut_and_that_is_said() -> None:
    assert diff({"path": "p", "content": "\n".join("x" * (MOST_LINES + 1))})[-1] == " …"
    assert len(diff({"path": "p", "content": "x" * 9_999})[0]) == LONGEST_LINE + 1
    edits = [{"old_str": "a", "new_str": "b"}] * (MOST_EDITS + 1)
    assert diff({"edits": edits})[-1] == " …"
    for before, after in ((MOST_LINES + 1, MOST_LINES), (MOST_LINES, MOST_LINES + 1)):
        assert diff({"old_str": "a\n" * before, "new_str": "a\n" * after})[-1] == " …"


def test_what_is_just_not_too_long_is_whole() -> None:
    assert diff({"path": "p", "content": "\n".join("x" * MOST_LINES)}) == ("+x",) * MOST_LINES
    assert diff({"path": "p", "content": "x" * LONGEST_LINE}) == ("+" + "x" * LONGEST_LINE,)
    assert diff({"edits": [{"old_str": "a", "new_str": "b"}] * MOST_EDITS})[-1] == "+b"


def test_definitions_are_compared_member_by_member() -> None:
    before = '{"annotations":{"a":1},"description":"one\\ntwo","name":"t"}'
    after = '{"annotations":{"a":2},"description":"one\\nthree","name":"t"}'
    lines = of_definitions(before, after)
    assert lines == (" name: t", " description: one", "-  two", "+  three", " annotations: {", '-    "a": 1', '+    "a": 2', "   }")


def test_a_definition_that_was_not_known_is_all_new() -> None:
    assert of_definitions("", '{"name":"t","description":"d"}') == ("+name: t", "+description: d")
    assert of_definitions('{"description":"d"}', '{"description":""}') == ("-description: d", "+description: ")


def test_a_hidden_character_is_a_difference_that_can_be_seen() -> None:
    assert of_definitions('{"description":"a"}', '{"description":"a\u200b"}') == ("-description: a", "+description: a\\u200b")


def test_what_cannot_be_read_is_compared_as_it_is() -> None:
    assert of_definitions("{", "[[") == ("-{", "+[[")


def test_no_more_edits_are_compared_than_are_shown() -> None:
    compared: list[str] = []

    def clean(text: str) -> str:
        compared.append(text)
        return text

    edits = [{"oldText": "\n".join("ab"), "newText": "\n".join(str(n) for n in range(MOST_LINES))}] * MOST_EDITS
    assert len(of_arguments({"edits": edits}, clean)) == MOST_LINES + 1
    assert len(compared) <= 4
