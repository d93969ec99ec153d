"""copilot_names.py"""

import re
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.catalogue.formats.names import HASH_DIGITS, MAX_LENGTH, copilot_names

ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
HASH = f"_[0-9a-f]{{{HASH_DIGITS}}}"


def name_of(server: str, tool: str) -> str:
    return copilot_names([(server, tool)])[server, tool]


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("fs", "read_file", "mcp_fs_read_file"),
        ("my server", "list-all", "mcp_my_server_list-all"),
        ("gh", "issues/create.new", "mcp_gh_issues_create_new"),
        ("a", "x" * (MAX_LENGTH - 6), "mcp_a_" + "x" * (MAX_LENGTH - 6)),
    ],
)
def test_a_name_says_server_and_tool(server: str, tool: str, name: str) -> None:
    assert name_of(server, tool) == name


def test_a_name_that_is_too_long_ends_in_a_hash_of_the_whole() -> None:
    names = [name_of("server", "long_" * 20 + end) for end in ("a", "b")]
    assert names[0] != names[1]
    assert all(re.fullmatch(r"mcp_server_(long_)+lo" + HASH, name) or re.fullmatch(r"mcp_server_[long_]+" + HASH, name) for name in names)
    assert all(len(name) <= MAX_LENGTH for name in names)


@pytest.mark.parametrize(("server", "tool"), [("文件", "read"), ("fs", "读取文件"), ("文件", "读取"), ("fs", ""), ("fs", "_-_")])
def test_what_could_not_be_kept_is_a_hash(server: str, tool: str) -> None:
    assert re.fullmatch(r"mcp[a-z_-]*" + HASH, name_of(server, tool))
    assert name_of(server, tool) == name_of(server, tool)


def test_tools_that_would_be_alike_are_told_apart_whatever_their_order() -> None:
    alike = [("a", "b_c"), ("a_b", "c"), ("a b", "c"), ("other", "tool")]
    outcomes = [copilot_names(order) for order in permutations(alike)]
    assert all(names == outcomes[0] for names in outcomes)
    assert len(set(outcomes[0].values())) == 4
    assert outcomes[0]["other", "tool"] == "mcp_other_tool"
    assert all(re.fullmatch(r"mcp_a_b_c" + HASH, outcomes[0][tool]) for tool in alike[:3])


def test_a_tool_that_is_called_like_the_hash_of_another_takes_it_from_nobody() -> None:
    long = ("s", "x" * 100)
    thief = ("s", copilot_names([long])[long].removeprefix("mcp_s_"))
    names = copilot_names([long, thief])
    assert names[thief] == f"mcp_s_{thief[1]}"
    assert names[long] != names[thief]
    assert ALLOWED.fullmatch(names[long])


@given(tools=st.lists(st.tuples(st.text(st.characters()), st.text(st.characters(), max_size=80))))
def test_names_are_unique_and_allowed_whatever_servers_and_tools_are_called(tools: list[tuple[str, str]]) -> None:
    names = copilot_names(tools)
    assert names.keys() == set(tools)
    assert len(set(names.values())) == len(names)
    assert all(ALLOWED.fullmatch(name) for name in names.values())
