"""names.py"""

import re
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.catalogue.formats.names import (
    ANY_NAME,
    HASH_DIGITS,
    MAX_LENGTH,
    PLAIN,
    NameMap,
    NameRule,
    copilot_description,
    copilot_names,
    copilot_parameters,
)

RULE = NameRule(PLAIN, 64, "tool")
STRICT = NameRule(re.compile(r"[A-Za-z_][A-Za-z0-9_]*"), 20, "argument")


@pytest.mark.parametrize("name", ["add", "get-sum", "a", "x" * 64, "2fast"])
def test_a_name_that_a_provider_takes_stays(name: str) -> None:
    assert NameMap([name], RULE).theirs(name) == name


def test_accents_go_and_a_hash_tells_that_something_went() -> None:
    assert re.fullmatch(r"cafe_creme_[0-9a-f]{8}", NameMap(["café crème"], RULE).theirs("café crème"))


def test_a_name_in_another_script_gets_a_name_of_its_own() -> None:
    found = NameMap(["天气", "新闻"], RULE)
    assert re.fullmatch(r"tool_[0-9a-f]{8}", found.theirs("天气"))
    assert found.theirs("天气") != found.theirs("新闻")
    assert found.ours(found.theirs("天气")) == "天气"


def test_a_long_name_is_cut_and_stays_apart_from_one_that_begins_alike() -> None:
    long, other = "x" * 100, "x" * 101
    found = NameMap([long, other], RULE)
    assert len(found.theirs(long)) == 64
    assert found.theirs(long) != found.theirs(other)


def test_a_name_begins_with_a_letter_where_the_provider_asks_for_that() -> None:
    assert re.fullmatch(r"argument_2f_[0-9a-f]{8}", NameMap(["2fast"], STRICT).theirs("2fast"))


def test_a_name_that_looks_like_a_changed_one_does_not_lose_its_own() -> None:
    taken = NameMap(["天气"], RULE).theirs("天气")
    found = NameMap(["天气", taken], RULE)
    assert found.theirs(taken) == taken
    assert found.ours(taken) == taken
    assert found.ours(found.theirs("天气")) == "天气"


def test_half_a_surrogate_pair_can_be_named() -> None:
    assert NameMap(["\ud800"], RULE).theirs("\ud800")


def test_only_changed_names_are_told() -> None:
    assert list(NameMap(["add", "a b"], RULE).changes) == ["a b"]
    assert NameMap(["", "a b", "\n"], ANY_NAME).changes == {}


def test_arguments_come_back_and_what_a_model_made_up_stays() -> None:
    found = NameMap(["a b"], RULE)
    assert found.arguments({found.theirs("a b"): 1, "c": 2}) == {"a b": 1, "c": 2}


def test_what_is_not_in_the_map_has_no_tool_behind_it() -> None:
    found = NameMap(["add"], RULE)
    assert found.ours("gone") is None
    assert found.theirs("gone") == "gone"


@given(st.lists(st.text(max_size=80), max_size=20), st.sampled_from([RULE, STRICT, ANY_NAME]))
def test_names_are_taken_by_the_provider_unique_and_lead_back(names: list[str], rule: NameRule) -> None:
    found, shuffled = NameMap(names, rule), NameMap(reversed(names), rule)
    theirs = {name: found.theirs(name) for name in names}
    assert len(set(theirs.values())) == len(set(names))
    for name, given_to in theirs.items():
        assert rule.fits(given_to)
        assert found.ours(given_to) == name
        assert shuffled.theirs(name) == given_to


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


@pytest.mark.parametrize(
    ("definition", "description"),
    [
        ({"description": "D", "title": "T"}, "D"),
        ({"description": " ", "title": "T", "annotations": {"title": "A"}}, "T"),
        ({"description": 5, "annotations": {"title": "A"}}, "A"),
        ({"annotations": "A"}, "The tool t of the MCP server s."),
    ],
)
def test_a_tool_has_some_words_for_the_model(definition: dict[str, object], description: str) -> None:
    assert copilot_description(("s", "t"), definition) == description


@pytest.mark.parametrize("schema", [None, "x", [], {"type": "object"}])
def test_a_schema_has_properties(schema: object) -> None:
    assert copilot_parameters(schema) == {"type": "object", "properties": {}}
    assert copilot_parameters({"properties": {"a": {}}, "x": 1}) == {"type": "object", "properties": {"a": {}}, "x": 1}
