"""rule_maker.py: rules made of a call cover it, from narrow to wide, and leave nothing open that could do harm."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.config.settings.call_rule import CallRule
from tooltray.consent.approvals.rule_coverage import Place, covers
from tooltray.consent.approvals.rule_words import MOST_OFFERED, offers

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


@pytest.mark.parametrize("command", ["git status; id", "", "a\nb", 'git commit -m "x"', ["git", 1], 5, ["git"] * 31, "$(id)"])
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
    assert made({"target": "https://x.org@evil.org/"}) == [{"target": {"equals": "https://x.org@evil.org/"}}]


def test_switches_texts_and_negative_numbers_stay_what_they_were() -> None:
    pinned = {"force": {"equals": True}, "sql": {"equals": "select"}, "n": {"equals": -1}}
    assert made({"force": True, "sql": "select", "n": -1}) == [pinned]
    assert made({}) == [{}]


@pytest.mark.parametrize(
    "arguments", [{"q": "x" * 300}, {"o": {"a": 1}}, {"l": [1]}, {"n": None}, {str(number): 1 for number in range(13)}, {"path": ["/a", 1]}]
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
