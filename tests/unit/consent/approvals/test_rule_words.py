"""rule_words.py: rules on arguments in words, and the rules that are offered for a call, from narrow to wide."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.config.settings.call_rule import CallRule, read_rule
from tooltray.consent.approvals.rule_coverage import Place, covers
from tooltray.consent.approvals.rule_words import (
    LONGEST_EQUAL,
    MOST_ARGUMENTS,
    MOST_OFFERED,
    MOST_WORDS,
    brief,
    cautions,
    is_wide,
    offers,
    words,
)

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
        ({"arguments": {"a": {"command": ["ls", "-l"], "more": "none"}}}, "t, where a is exactly `ls -l`; no other arguments"),
        (
            {"arguments": {"a": {"command": ["git"], "args": "b"}}},
            "t, where a with b begins with `git`, followed by words that are not options; no other arguments",
        ),
        ({"arguments": {"a": {"command": ["ls"], "more": "any"}}}, "t, where a begins with `ls`, followed by anything; no other arguments"),
        ({"arguments": {"a": {"number": {"min": 1, "max": 2}}}}, "t, where a is from 1 to 2; no other arguments"),
        ({"arguments": {"a": {"number": {"max": 2}}}}, "t, where a is at most 2; no other arguments"),
        (
            {"arguments": {"a": {"number": {"min": 1}}, "b": {"equals": "x" * 300, "optional": True}}},
            f't, where a is at least 1, and b is "{"x" * 199}…, or is not given; no other arguments',
        ),
        ({"arguments": {"a": {"equals": "x" * 198}}}, f't, where a is "{"x" * 198}"; no other arguments'),
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


HERE = Place("/code/p", "/home/ann")


def made(arguments: dict[str, Any], tool: str = "t", place: Place = HERE) -> list[dict[str, Any]]:
    """The conditions of what is offered."""
    return [rule.members().get("arguments", {}) for rule in offers(tool, json.dumps(arguments).encode(), place)]


def test_a_command_is_offered_as_it_is_and_with_further_words_in_its_project() -> None:
    in_project = {"inside": ["/code/p"]}
    assert made({"command": "git log --oneline -5 main", "cwd": "/code/p/src"}) == [
        {"command": {"command": ["git", "log", "--oneline", "-5", "main"], "more": "none"}, "cwd": in_project},
        {"command": {"command": ["git", "log", "--oneline", "-5"]}, "cwd": in_project},
    ]
    assert made({"command": "git log main other"}) == [
        {"command": {"command": ["git", "log", "main", "other"], "more": "none"}},
        {"command": {"command": ["git", "log"]}},
    ]
    assert made({"command": "git", "args": ["status"], "cwd": "/else"}) == [
        {"command": {"command": ["git", "status"], "more": "none", "args": "args"}, "cwd": {"equals": "/else"}},
        {"command": {"command": ["git", "status"], "args": "args"}, "cwd": {"equals": "/else"}},
    ]


@pytest.mark.parametrize(
    "command",
    [
        *("ls", "npm test", "pip install x", "sudo git status", "rm -r build", "/bin/sh x.sh", ["python3", "x.py"]),
        *("git config user.name x", "git -C /code/p bisect run make"),
    ],
)
def test_of_programs_that_run_others_or_destroy_nothing_but_the_same_command_is_offered(command: object) -> None:
    [found] = made({"command": command})
    assert found["command"]["more"] == "none"


@pytest.mark.parametrize("command", ["git status; id", "", "a\nb", 'git commit -m "x"', ["git", 1], 5, ["git"] * (MOST_WORDS + 1), "$(id)"])
def test_of_a_command_that_a_shell_may_read_in_another_way_no_rule_is_made(command: object) -> None:
    assert made({"command": command}) == []


def test_a_file_is_offered_alone_then_its_folder_then_the_project() -> None:
    assert made({"path": "/code/p/docs/a.md", "content": "x" * 1000}) == [
        {"path": {"equals": "/code/p/docs/a.md"}},
        {"path": {"inside": ["/code/p/docs"]}},
        {"path": {"inside": ["/code/p"]}},
    ]
    [rule, *_] = offers("t", b'{"path": "/a/b/c", "content": ""}', HERE)
    assert rule.others == ("content",)


def test_the_home_folder_and_what_it_lies_in_are_never_offered() -> None:
    assert made({"path": "/home/ann/a.md"}) == [{"path": {"equals": "/home/ann/a.md"}}]
    assert made({"path": "/a"}) == [{"path": {"equals": "/a"}}]


@pytest.mark.parametrize("path", ["src/a.py", "~/x", "/code/p/../x", "/code/p/$X"])
def test_of_a_path_that_may_be_read_in_two_ways_the_same_is_offered_alone(path: str) -> None:
    assert made({"path": path}) == [{"path": {"equals": path}}]


def test_several_paths_share_a_folder() -> None:
    assert made({"paths": ["/x/n/a", "/x/n/b/c"]}) == [{"paths[*]": {"oneOf": ["/x/n/a", "/x/n/b/c"]}}, {"paths[*]": {"inside": ["/x/n"]}}]
    assert made({"paths": ["/x/n/a", "/x/n/a"]})[0] == {"paths[*]": {"oneOf": ["/x/n/a"]}}
    assert made({"source": "/code/p/a", "destination": "/code/p/b"}) == [
        {"source": {"equals": "/code/p/a"}, "destination": {"equals": "/code/p/b"}},
        {"source": {"inside": ["/code/p"]}, "destination": {"inside": ["/code/p"]}},
    ]


def test_a_folder_is_offered_itself() -> None:
    assert made({"directory": "/x/n"}) == [{"directory": {"equals": "/x/n"}}, {"directory": {"inside": ["/x/n"]}}]


def test_the_folder_of_the_project_is_the_project() -> None:
    for name in ("repo", "path"):
        assert made({name: "/code/p"}) == [{name: {"equals": "/code/p"}}, {name: {"inside": ["/code/p"]}}]


def test_an_address_is_offered_alone_then_its_host_and_numbers_are_left_open() -> None:
    any_count = {"number": {"min": 0}, "optional": True}
    assert made({"url": "https://x.org:81/a?b", "max": 5}) == [
        {"url": {"equals": "https://x.org:81/a?b"}, "max": {"equals": 5}},
        {"url": {"equals": "https://x.org:81/a?b"}, "max": any_count},
        {"url": {"hosts": ["x.org:81"]}, "max": any_count},
    ]
    assert made({"url": "https://x.org/a"})[-1] == {"url": {"hosts": ["x.org"]}}
    assert made({"target": "https://x.org@evil.org/"}) == [{"target": {"equals": "https://x.org@evil.org/"}}]


def test_switches_texts_and_negative_numbers_stay_what_they_were() -> None:
    pinned = {"force": {"equals": True}, "sql": {"equals": "select"}, "n": {"equals": -1}}
    assert made({"force": True, "sql": "select", "n": -1}) == [pinned]
    assert made({}) == [{}]


def test_what_is_just_short_enough_is_offered() -> None:
    assert made({"q": "x" * LONGEST_EQUAL}) == [{"q": {"equals": "x" * LONGEST_EQUAL}}]
    assert len(made({str(number): True for number in range(MOST_ARGUMENTS)})) == 1
    assert made({"command": ["git"] * MOST_WORDS})


@pytest.mark.parametrize(
    "arguments",
    [
        {"q": "x" * (LONGEST_EQUAL + 1)},
        {"o": {"a": 1}},
        {"l": [1]},
        {"n": None},
        {str(number): 1 for number in range(MOST_ARGUMENTS + 1)},
        {"path": ["/a", 1]},
    ],
)
def test_of_what_cannot_be_said_in_short_no_rule_is_made(arguments: dict[str, Any]) -> None:
    assert made(arguments) == []
    assert offers("t", b'{"a":1,"a":1}', HERE) == ()
    assert offers("t", b'{"a":"%s"}' % (b"x" * 300_000), HERE) == ()


@pytest.mark.parametrize("tool", ["t", "names:x", "tool:x", "read"])
def test_a_rule_is_for_the_tool_whatever_it_is_called(tool: str) -> None:
    [rule] = offers(tool, b"{}", HERE)
    assert rule.tool in (tool, f"tool:{tool}")
    assert (rule.tool == tool) is not tool.startswith(("names:", "tool:"))


_VALUE = st.sampled_from(["git status", "/code/p/a", "/x/y", "https://x.org/a", "x;y", 3, True, ["a"], ["/x/a", "/x/b"], "", "src/a"])


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(["command", "path", "url", "content", "n", "args"]), _VALUE, max_size=4))
def test_what_is_offered_covers_the_call_and_each_is_wider_than_the_one_before(arguments: dict[str, Any]) -> None:
    raw = json.dumps(arguments).encode()
    found: tuple[CallRule, ...] = offers("t", raw, HERE)
    assert len(found) <= MOST_OFFERED
    assert all(covers(rule, raw, HERE) for rule in found)
    assert not any(covers(rule, json.dumps({**arguments, "more": 1}).encode(), HERE) for rule in found)
    assert len({rule.text for rule in found}) == len(found)
