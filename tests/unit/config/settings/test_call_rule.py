"""call_rule.py: a rule says what it means, or cannot be used, and then allows nothing."""

from decimal import Decimal
from typing import Any

import pytest

from tooltray.config.settings.call_rule import read_rule
from tooltray.config.settings.settings_reading import read_settings
from tooltray.config.settings.widening import call_rules_widen, entry_widens, settings_widen
from tooltray.foundation.errors import TooltrayError

RULE: dict[str, Any] = {
    "tool": "run",
    "arguments": {"command": {"command": ["git", "status"], "args": "argv"}, "n": {"number": {"min": 1}, "optional": True}},
    "others": ["note"],
}


def test_a_rule_is_written_as_it_was_read() -> None:
    assert read_rule(RULE).members() == RULE
    assert read_rule({**RULE, "server": None}).text == read_rule(RULE).text
    assert read_rule({"tool": "t", "arguments": {"a": {"number": {"min": Decimal("0.5"), "max": Decimal(2)}}}}).members()["arguments"] == {
        "a": {"number": {"min": 0.5, "max": 2}}
    }
    assert read_rule({"tool": "t", "arguments": {"a": {"oneOf": [Decimal("1.5"), "x", True, 1]}}}).arguments["a"].one_of == (
        1.5,
        "x",
        True,
        1,
    )


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"a": {"number": {"min": 3, "max": 1}}}, "arguments.a.number: min is more than max: no number is in it"),
        ({"a": {"number": {}}}, "arguments.a.number: must have min or max"),
        ({"a": {"hosts": []}}, "arguments.a.hosts: must not be empty"),
        ({"a": {"hosts": ["https://x"]}}, "arguments.a: hosts: must be names of hosts, as example.org or *.example.org"),
        ({"a": {"inside": ["x"]}}, "arguments.a: inside: must be whole paths of folders, ~/ or {project}"),
        ({"a": {"oneOf": ["x"] * 101}}, "arguments.a.oneOf: has too many values"),
        ({"a": {"equals": "x" * 5000}}, "arguments.a.equals.constrained-str: is too long"),
        ({"a": {}}, "arguments.a: must have exactly one of inside, hosts, command, number, equals and oneOf"),
        ({"a": {"equals": 1, "oneOf": [1]}}, "arguments.a: must have exactly one of inside, hosts, command, number, equals and oneOf"),
        ({"a": {"equals": 1, "more": "any"}}, "arguments.a: more and args belong to a command"),
        ({"a": {"equal": 1}}, "arguments.a.equal: is not known here"),
        ({"a b": {"equals": 1}}, "must be named as path, options.cwd or items[*].path"),
        ({"a": {"equals": 1}, "a.b": {"equals": 1}}, "two paths speak of the same argument"),
        ({"a": {"command": ["x"], "args": "a"}}, "two paths speak of the same argument"),
        ({"a": {"command": ["x"], "args": "b c"}}, "must be named as path, options.cwd or items[*].path"),
        ({"a[*]": {"command": ["x"], "args": "b"}}, "a command with args stands in no list"),
    ],
)
def test_what_nobody_can_satisfy_or_nobody_knows_cannot_be_used(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(TooltrayError) as error:
        read_rule({"tool": "t", "arguments": arguments})
    assert why in error.value.problem.message


@pytest.mark.parametrize("words", [["git", "a b"], ["git;"], ["A=b", "git"], ["-x"], ["git", ""], ["git", "$HOME"]])
def test_words_of_a_command_are_plain_and_begin_with_a_program(words: list[str]) -> None:
    with pytest.raises(TooltrayError, match="a list of plain words is wanted"):
        read_rule({"tool": "t", "arguments": {"a": {"command": words}}})


@pytest.mark.parametrize("rule", [{}, {"tool": ""}, {"tool": 3}, "t", {"tool": "t", "others": "all"}, {"tool": "t", "argument": {}}])
def test_other_values_are_no_rules(rule: object) -> None:
    with pytest.raises(TooltrayError, match="This rule cannot be used"):
        read_rule(rule)


def test_a_rule_that_another_one_was_not_widens() -> None:
    one, other = read_rule(RULE), read_rule({"tool": "t"})
    assert call_rules_widen((one,), (one, other))
    assert not call_rules_widen((one, other), (other,))
    entry = {"command": "x", "callRules": [RULE]}
    assert entry_widens("s", {"command": "x"}, entry)
    assert not entry_widens("s", entry, {"command": "x"})


def test_rules_of_a_client_widen_unless_it_has_fewer() -> None:
    found = read_settings({"publish": {"clients": {"c": {"callRules": [RULE, {"tool": "t"}]}}}}).settings

    def widens(client: str, rules: object) -> bool:
        return settings_widen({"publish": {"clients": {client: {"callRules": rules}}}}, found)

    assert not widens("c", [RULE])
    assert not widens("new", [])
    assert not widens("new", None)
    assert widens("c", None)
    assert widens("c", [{"tool": "other"}])
    assert widens("c", [{"tool": 1}])
    assert widens("c", "x")
    assert widens("new", [RULE])


def test_a_rule_on_arguments_that_stands_in_auto_approve_is_sent_where_it_belongs() -> None:
    [slip] = read_settings({"mcpServers": {"s": {"command": "x", "autoApprove": ["read", RULE]}}}).slips
    assert "autoApprove: a rule on arguments does not stand here; write it as callRules" in str(slip)
