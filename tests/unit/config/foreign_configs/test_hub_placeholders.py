"""hub_placeholders.py: mcp-hub's placeholders in our spelling."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.config.foreign_configs.hub_placeholders import CannotFill, HubPlaceholders, Surroundings

OWN = {"workspaceFolder": "/w", "cwd": "/w", "/": "/", "userHome": "/h"}
ENVIRON = {"HOME": "/h", "WHICH": "HOME", "cwd": "/elsewhere"}
HANDED = {"GIVEN": "g", "input:key": "k", "plain": "p", "a-b": "ab", "HOME": "/given"}


def placeholders(env: Mapping[str, str] | None = None) -> HubPlaceholders:
    found = HubPlaceholders(Surroundings(OWN, ENVIRON, HANDED))
    found.know({name: found.ours(value) for name, value in (env or {}).items()}, env or {})
    return found


def filled(text: str, found: HubPlaceholders) -> str:
    """What the server would get, with each command's text in the place of what it says."""
    ours = found.ours(text)
    known = ENVIRON | found.variables | {name: f"<{command}>" for name, command in found.commands.items()}
    return re.sub(r"\$\{([^}]*)\}", lambda placeholder: known[placeholder[1]], ours)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("${WHICH}", "HOME"),
        ("${env:WHICH}-x", "HOME-x"),
        ("${HOME}", "/given"),
        ("${GIVEN}${GIVEN}", "gg"),
        ("${input:key}", "k"),
        ("${input:plain}", "p"),
        ("${a-b}", "ab"),
        ("${workspaceFolder}${/}x", "/w/x"),
        ("${cwd}", "/elsewhere"),
        ("${env:${WHICH}}", "/given"),
        ("${${env:WHICH}}", "/given"),
        ("${cmd: op read x}", "<op read x>"),
        ("a ${cmd:x} b ${cmd:  y } c", "a <x> b <y> c"),
        ("$: cat x", "<cat x>"),
        ("${cmd: cat ${workspaceFolder}/${env:WHICH}}", "<cat /w/HOME>"),
        ("${cmd: one ${cmd: two ${GIVEN}}}", "<one $(two g)>"),
        ("${never closed", "${never closed"),
        ("${a ${GIVEN}", "${a g"),
        ("x } ${GIVEN} {y}", "x } g {y}"),
        ("$HOME", "$HOME"),
    ],
)
def test_each_placeholder_has_its_value(text: str, value: str) -> None:
    assert filled(text, placeholders()) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${A}", "g/x"),
        ("${env:B}", "<hush>"),
        ("${cmd: curl ${B}}", "<curl $(hush)>"),
        ("${cmd: echo ${A}}", "<echo g/x>"),
        ("${WHICH}", "own"),
    ],
)
def test_the_entry_s_own_variables_go_before_all_others(text: str, value: str) -> None:
    assert filled(text, placeholders({"A": "${GIVEN}/x", "B": "${cmd: hush}", "WHICH": "own"})) == value


def test_what_is_not_known_here_is_left_to_when_the_server_starts() -> None:
    found = placeholders()
    assert found.ours("${LATER} ${env:LATER} ${secret:A/B} ${LATER:-x}") == "${LATER} ${LATER} ${secret:A/B} ${LATER:-x}"
    assert (found.variables, found.commands) == ({}, {})


def test_no_value_gets_into_the_text() -> None:
    found = placeholders()
    text = found.ours("${GIVEN} ${input:key} ${cmd: echo ${GIVEN}}")
    assert re.fullmatch(r"\$\{GIVEN\} \$\{TOOLTRAY_VALUE_[0-9A-F]{12}\} \$\{TOOLTRAY_COMMAND_[0-9A-F]{12}\}", text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("${input:none}", "${input:none} has no value"),
        ("${}", "${} has no value"),
        ("${a b}", "${a b} has no value"),
        ("${env:a\u202eb}", "${env:a?b} has no value"),
        ("${env:${NONE}}", "${NONE} has no value"),
        ("${x-${GIVEN}}", "${...} has no value"),
        ("${cmd: ${${GIVEN}-}}", "${...} has no value"),
        ("${cmd: }", "a placeholder for a command has none in it"),
        ("$:", "a placeholder for a command has none in it"),
        ("${a" * 15 + "}" * 15, "its placeholders stand more than 10 deep in each other"),
    ],
)
def test_what_has_no_value_is_told_and_what_was_filled_in_is_not(text: str, why: str) -> None:
    with pytest.raises(CannotFill) as error:
        placeholders().ours(text)
    assert str(error.value) == why


@pytest.mark.parametrize(("depth", "is_too_deep"), [(10, False), (11, True)])
def test_placeholders_in_each_other_are_followed_to_a_limit(depth: int, is_too_deep: bool) -> None:
    with pytest.raises(CannotFill) as error:
        placeholders().ours("${a" * depth + "}" * depth)
    assert ("deep in each other" in str(error.value)) is is_too_deep


def test_of_names_in_a_circle_none_is_followed() -> None:
    found = placeholders({"A": "${B}", "B": "${A}"})
    assert found.ours("${A} ${B}") == "${B} ${A}"
    with pytest.raises(CannotFill):
        found.ours("${cmd: echo ${A}}")


@given(st.lists(st.sampled_from([*"${}:a ", "${", "${cmd:", "${GIVEN}", "env:", "$:"]), max_size=30).map("".join))
def test_any_text_is_translated_or_refused(text: str) -> None:
    found = placeholders()
    try:
        ours = found.ours(text)
    except CannotFill:
        return
    assert all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in re.findall(r"\$\{([^}]*)\}", ours))


def test_a_long_row_of_braces_takes_no_time_that_matters() -> None:
    assert placeholders().ours("${" * 100_000).startswith("${TOOLTRAY_OPEN_BRACE}")
