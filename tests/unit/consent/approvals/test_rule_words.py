"""rule_words.py: a rule says in words what it covers."""

from typing import Any

import pytest

from tooltray.config.settings.call_rule import read_rule
from tooltray.consent.approvals.rule_coverage import Place
from tooltray.consent.approvals.rule_words import brief, cautions, is_wide, words

HERE = Place("/code/p", "/home/ann")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({}, "t: without arguments"),
        ({"others": "any"}, "t: any arguments"),
        ({"tool": "names:get_*", "others": "any"}, "tools named like get_*: any arguments"),
        ({"server": "s", "arguments": {"a": {"equals": "x"}}}, 't of s, where a is "x"; no other arguments'),
        ({"arguments": {"a": {"oneOf": [1, True]}}, "others": "any"}, "t, where a is 1 or true; any other arguments"),
        ({"arguments": {"a": {"inside": ["~/n", "{project}"]}}}, "t, where a is in ~/n or the project's folder; no other arguments"),
        ({"arguments": {"a": {"inside": ["{project}/src"]}}}, "t, where a is in src of the project; no other arguments"),
        (
            {"arguments": {"a": {"hosts": ["x.org"]}}, "others": ["b", "c"]},
            "t, where a is at x.org; anything as b, c, and no other arguments",
        ),
        (
            {"arguments": {"a": {"command": ["ls", "-l"], "more": "none"}}},
            "t, where a is exactly `ls -l`; no other arguments",
        ),
        (
            {"arguments": {"a": {"command": ["git"], "args": "b"}}},
            "t, where a with b begins with `git`, followed by words that are not options; no other arguments",
        ),
        (
            {"arguments": {"a": {"command": ["ls"], "more": "any"}}},
            "t, where a begins with `ls`, followed by anything; no other arguments",
        ),
        ({"arguments": {"a": {"number": {"min": 1, "max": 2}}}}, "t, where a is from 1 to 2; no other arguments"),
        ({"arguments": {"a": {"number": {"max": 2}}}}, "t, where a is at most 2; no other arguments"),
        (
            {"arguments": {"a": {"number": {"min": 1}}, "b": {"equals": "x" * 300, "optional": True}}},
            f't, where a is at least 1, and b is "{"x" * 199}…, or is not given; no other arguments',
        ),
        ({"tool": "tool:read\u202e", "others": "any"}, "read\\u202e: any arguments"),
    ],
)
def test_words(rule: dict[str, Any], said: str) -> None:
    assert words(read_rule({"tool": "t", **rule})) == said


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"arguments": {"a": {"command": ["ls"], "more": "none"}, "b": {"inside": ["/x"]}}}, "exactly `ls`, in /x"),
        ({"arguments": {"a": {"command": ["ls"]}, "n": {"number": {"min": 1}}}}, "`ls` with more words"),
        (
            {"arguments": {"a": {"hosts": ["x.org", "y.org"]}, "b": {"equals": 1}, "c": {"oneOf": [1, "x"]}}},
            'at x.org or y.org, exactly 1, 1 or "x"',
        ),
        ({}, "without arguments"),
        ({"others": "any"}, "whatever it is called with"),
    ],
)
def test_in_short(rule: dict[str, Any], said: str) -> None:
    assert brief(read_rule({"tool": "t", **rule})) == said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"a": {"inside": ["/home"]}}, ["almost everything of yours is in /home"]),
        ({"a": {"inside": ["/home/ann/n", "{project}"]}}, []),
        ({"a": {"command": ["/bin/sh"]}}, ["sh runs other programs, and any word behind it may be one"]),
        ({"a": {"command": ["sh", "x"], "more": "none"}, "b": {"command": ["git"]}}, []),
        ({"a": {"hosts": ["x.org"]}}, ["where a host sends a request on to is not known here"]),
    ],
)
def test_cautions(arguments: dict[str, Any], said: list[str]) -> None:
    assert list(cautions(read_rule({"tool": "t", "arguments": arguments}), HERE)) == said


def test_a_rule_that_looks_at_nothing_else_says_so() -> None:
    assert list(cautions(read_rule({"tool": "t", "others": "any"}), HERE)) == ["what else a call is given is not looked at"]


def test_folders_with_almost_everything_in_them() -> None:
    assert [is_wide(each, HERE) for each in ("/", "/home", "/home/ann", "/home/ann/n", "")] == [True, True, True, False, False]
