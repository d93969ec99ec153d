"""rule_coverage.py: what a rule covers, and that no trick makes it cover more."""

import json
import os
import shlex
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.config.settings.call_rule import CallRule, read_rule
from tooltray.consent.approvals.rule_coverage import READ_BELOW_BYTES, Place, covers, is_for, is_option, needs_disk

HERE = Place("/code/p", "/home/ann")


def rule(others: object = None, **arguments: Any) -> CallRule:
    return read_rule({"tool": "t", "arguments": arguments, "others": others})


def is_covered(made: CallRule, arguments: object) -> bool:
    return covers(made, json.dumps(arguments).encode(), HERE)


STATUS = rule(command={"command": ["git", "status"]}, cwd={"inside": ["/code"], "optional": True})


@pytest.mark.parametrize(
    "command", ["git status", "git  status", " git status ", "git status src/a.py", ["git", "status"], ["git", "status", "a"]]
)
def test_a_command_and_further_words(command: object) -> None:
    assert is_covered(STATUS, {"command": command, "cwd": "/code/p"})


@pytest.mark.parametrize(
    "command",
    [
        *("git log", "git", "gits status", "Git status", "./git status", "/usr/bin/git status", "git statusx", "", [], ["git status"]),
        *([["git", "status"]],),
    ],
)
def test_another_command_asks(command: object) -> None:
    assert not is_covered(STATUS, {"command": command})


def test_a_slash_begins_an_option_on_windows_alone() -> None:
    assert is_option("/x") is (os.name == "nt")


@pytest.mark.parametrize(
    "more",
    [
        *("-s", "--porcelain", "-c", "+x", "@file", "a=b", "ext::sh", "=ls", "~", "~/x", "$HOME", "*", "a?", "[a]", "{a,b}", "`id`"),
        *("$(id)", "#x", "!x", "^", "%PATH%"),
    ],
)
def test_options_and_signs_of_a_shell_ask_behind_a_command(more: str) -> None:
    assert not is_covered(STATUS, {"command": f"git status {more}"})
    assert not is_covered(STATUS, {"command": ["git", "status", more]})


@pytest.mark.parametrize(
    "command",
    [
        *("git status; id", "git status;id", "git status|id", "git status && id", "git status & id", "git status > x"),
        *("git status < x", "git status `id`"),
        *("git status\nid", "git status\rid", "git status\tx", "git status\vid", "git status\x00id", "git\u00a0status"),
        *("git\u3000status", "git status\u2028id"),
        *("A=b git status", "'git' status", '"git" status', "\\git status", "git -c core.pager=id status"),
        *("git --exec-path=x status", "git status\\", "(git status)"),
    ],
)
def test_no_line_with_signs_of_a_shell_is_a_command(command: str) -> None:
    assert not is_covered(STATUS, {"command": command})
    assert not is_covered(
        rule(command={"command": ["git"], "more": "any"}),
        {"command": command.replace("-c core.pager=id", "'x'").replace("--exec-path=x", "'x'")},
    )


@pytest.mark.parametrize(
    "value", [None, 1, True, {"0": "git"}, ["git", 1], ["git", "status", None], ["git", "status", ""], ["git", "status", "a b"], [None]]
)
def test_a_command_is_a_text_or_a_list_of_words(value: object) -> None:
    assert not is_covered(STATUS, {"command": value})


def test_how_many_words_may_follow() -> None:
    none, any_word = rule(c={"command": ["ls"], "more": "none"}), rule(c={"command": ["ls"], "more": "any"})
    assert [is_covered(none, {"c": each}) for each in ("ls", "ls a", "ls -l")] == [True, False, False]
    assert [is_covered(any_word, {"c": each}) for each in ("ls", "ls a", "ls -l", "ls ;")] == [True, True, True, False]


def test_a_command_in_two_arguments() -> None:
    made = rule(command={"command": ["git", "status"], "args": "o.args"})
    assert is_covered(made, {"command": "git", "o": {"args": ["status", "a"]}})
    for odd in (["-c", "x", "status"], ["status", "-s"], "status", {"0": "status"}, [], [1], ["status; id"]):
        assert not is_covered(made, {"command": "git", "o": {"args": odd}})
    for other in ({"command": "git status"}, {"command": ["git"], "o": {"args": ["status"]}}, {"command": "git", "o": ["status"]}):
        assert not is_covered(made, other)
    assert is_covered(rule(command={"command": ["git"], "args": "args"}), {"command": "git"})


def test_paths_of_a_list_are_each_looked_at() -> None:
    made = rule(**{"items[*].path": {"inside": ["/nowhere/x"]}})
    assert needs_disk(made)
    assert not needs_disk(rule(a={"equals": 1}))
    assert is_covered(made, {"items": [{"path": "/nowhere/x/a"}, {"path": "/nowhere/x"}]})
    for items in (
        [],
        {},
        "x",
        [{"path": "/nowhere/x/a"}, {"path": "/etc"}],
        [{}],
        [{"path": ["/nowhere/x"]}],
        [{"path": "/nowhere/x", "b": 1}],
        ["/nowhere/x"],
    ):
        assert not is_covered(made, {"items": items})
    assert is_covered(rule(**{"items[*]": {"equals": 1, "optional": True}}), {"items": []})


def test_hosts() -> None:
    made = rule(url={"hosts": ["example.org", "*.example.com", "local.test:8443"]})
    for url in ("https://example.org/a?b", "http://EXAMPLE.org", "example.org", "https://a.b.example.com/", "https://local.test:8443/x"):
        assert is_covered(made, {"url": url})
    odd = (
        *("https://evil.org", "https://example.com", "https://a.example.org", "https://example.org:8443", "https://local.test"),
        *("https://example.org@evil.org",),
    )
    for url in (
        *odd,
        "https://notexample.org",
        "https://example.org.evil.org",
        "https://evil.org/example.org",
        "https://evil.org#example.org",
        ["example.org"],
        1,
    ):
        assert not is_covered(made, {"url": url})


@pytest.mark.parametrize(
    ("value", "is_in"),
    [(1, True), (10, True), (2.5, True), (0, False), (11, False), ("5", False), (True, False), (None, False), ([5], False)],
)
def test_numbers(value: object, is_in: bool) -> None:
    assert is_covered(rule(n={"number": {"min": 1, "max": 10}}), {"n": value}) is is_in


def test_numbers_that_are_none_or_have_no_bound() -> None:
    at_most, at_least = rule(n={"number": {"max": 5}}), rule(n={"number": {"min": 0}})
    assert covers(at_most, b'{"n": -1e300}', HERE)
    assert covers(at_least, b'{"n": -0.0}', HERE)
    for text in (b"NaN", b"Infinity", b"1e400", b"-1", b"-1e400", b"9" * 5000):
        assert not covers(at_least, b'{"n": %s}' % text, HERE)


def test_values_are_equal_in_kind_too() -> None:
    for wanted, others in (
        *((1, ("1", True, 2, None)), (True, (1, "true", False)), ("1", (1, "1 ", "１", ["1"])), ("\u00e9", ("e\u0301",))),
        *((False, (0, None)),),
    ):
        made = rule(a={"equals": wanted})
        assert is_covered(made, {"a": wanted})
        assert not any(is_covered(made, {"a": each}) for each in others)
    assert is_covered(rule(a={"equals": 1}), {"a": 1.0})
    assert [is_covered(rule(a={"oneOf": ["x", 2]}), {"a": each}) for each in ("x", 2, "y", "2")] == [True, True, False, False]


def test_an_argument_of_which_nothing_is_said_asks() -> None:
    assert not is_covered(rule(a={"equals": 1}), {"a": 1, "b": 2})
    assert is_covered(rule(["b"], a={"equals": 1}), {"a": 1, "b": {"anything": [1]}})
    assert not is_covered(rule(["b"], a={"equals": 1}), {"a": 1, "b": 1, "c": 1})
    assert is_covered(rule("any", a={"equals": 1}), {"a": 1, "b": 2})
    assert is_covered(rule("any", **{"o.a": {"equals": 1}}), {"o": {"a": 1, "x": 1}, "b": 2})
    assert not is_covered(rule(**{"o.a": {"equals": 1}}), {"o": {"a": 1, "x": 1}})
    assert is_covered(rule(), {})
    assert not is_covered(rule(), {"a": 1})


@pytest.mark.parametrize("name", ["PATH", "Path", "ｐａｔｈ"])
def test_a_name_that_a_server_could_take_for_another_one_asks(name: str) -> None:
    made = rule("any", path={"equals": "a", "optional": True})
    assert not is_covered(made, {"path": "a", name: "b"})
    assert not is_covered(made, {name: "b"})


def test_an_argument_that_is_missing_asks_unless_it_may_be() -> None:
    assert not is_covered(rule(a={"equals": 1}), {})
    assert not is_covered(rule(**{"o.a": {"equals": 1}}), {"o": {}})
    assert is_covered(rule(a={"equals": 1, "optional": True}), {})
    assert not is_covered(rule(a={"equals": 1, "optional": True}), {"a": None})


@pytest.mark.parametrize(
    "raw",
    [
        *(b'{"a":1,"a":1}', b'{"a":1,"\\u0061":1}', b'{"a":1,"o":{"b":1,"b":2}}', b"[]", b"null", b"1", b'"a"', b"", b"{"),
        *(b'{"a":1}x', b'{"a":01}'),
        *(
            b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            b'{"a":1,"o":"' + b"x" * READ_BELOW_BYTES + b'"}',
            b'{"a":1,"o":"\xff"}',
            b'{"a":1,"o":NaN}',
        ),
    ],
)
def test_arguments_that_can_be_read_in_two_ways_or_not_at_all_ask(raw: bytes) -> None:
    assert not covers(rule("any", a={"equals": 1}), raw, HERE)


def test_no_arguments_are_none() -> None:
    assert covers(rule(), b"", HERE)


@pytest.mark.parametrize(
    ("text", "tool", "is_one"),
    [("t", "t", True), ("t", "T", False), ("names:t*", "t_x", True), ("tool:names:t*", "names:t*", True), ("names:t*", "x", False)],
)
def test_which_tool_a_rule_speaks_of(text: str, tool: str, is_one: bool) -> None:
    assert is_for(read_rule({"tool": text}), tool) is is_one


_SIGNS = st.text(st.sampled_from("git status-x;|&$()<>`\\\"'*?[]{}~!#=@+:\n\t\r\v\0\u00a0é"), max_size=24)


@settings(max_examples=150, deadline=None)
@given(_SIGNS | _SIGNS.map(lambda text: f"git status{text}"))
def test_a_line_that_is_covered_is_the_same_words_to_a_shell(line: str) -> None:
    if is_covered(STATUS, {"command": line}):
        words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
        assert "".join(words) == line.replace(" ", "")
        assert shlex.split(line, comments=True)[:2] == ["git", "status"]
        assert not any(word.startswith("-") for word in line.split())


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["command", "cwd", "Command", "x", ""]), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(_JSON)
def test_whatever_is_given_a_call_without_the_command_is_not_covered(value: object) -> None:
    text = json.dumps(value).encode()
    assert not covers(STATUS, text, HERE) or (isinstance(value, Mapping) and str(value.get("command")).split()[:2] == ["git", "status"])


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["a", "b", "c d", "é"]), st.text(max_size=4) | st.integers(-5, 5) | st.booleans(), max_size=3),
    st.booleans(),
)
def test_a_rule_of_equal_values_covers_the_same_arguments_however_they_are_written(given_: dict[str, Any], is_ascii: bool) -> None:
    made = read_rule({"tool": "t", "arguments": {f"[{json.dumps(name)}]": {"equals": each} for name, each in given_.items()}})
    assert covers(made, json.dumps(given_, ensure_ascii=is_ascii, indent=2).encode("utf-8", "surrogatepass"), HERE)
    assert not covers(made, json.dumps({**given_, "more": 1}).encode(), HERE)
