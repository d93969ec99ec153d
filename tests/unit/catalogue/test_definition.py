"""catalogue/definition.py"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tooltray.catalogue.definition import (
    COVERED,
    MAX_REMARKS,
    ToolDefinition,
    TwiceNamed,
    canonical,
    definition_text,
    fingerprint,
    read_definition,
    read_definitions,
)
from tooltray.errors import TooltrayError

SCHEMA = b'{"type":"object"}'
USUAL = {"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}}}


def definition(**members: Any) -> bytes:
    return json.dumps({"name": "t", "inputSchema": {"type": "object"}, **members}).encode()


def test_what_the_hub_needs_is_read_and_the_rest_stays_as_it_came() -> None:
    text = b'{ "name":"read","description":"Reads.", "annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"},"x":1e400 }'
    tool = read_definition(Raw(text))
    assert (tool.name, tool.description, tool.annotations, tool.flaws) == ("read", "Reads.", {"readOnlyHint": True}, ())
    assert bytes(tool.raw) == text


def test_renaming_changes_the_name_alone_and_keeps_numbers_order_and_unknown_members() -> None:
    text = b'{"a":1180591620717411303424,"name":"old","b":[1e400, 0.1000000000000000055,{"name":"inner"}],"inputSchema":{"type":"object"}}'
    assert bytes(read_definition(text).renamed("srv_old")) == text.replace(b'"old"', b'"srv_old"')


@pytest.mark.parametrize("depth", [10, 900, 5_000, 100_000])
def test_schemas_of_any_depth_are_renamed_verbatim(depth: int) -> None:
    text = b'{"name":"old","inputSchema":{"type":"object","p":' + b'{"a":[' * depth + b"1" + b"]}" * depth + b"}}"
    tool = read_definition(text)
    assert (tool.name, tool.flaws) == ("old", ())
    assert bytes(tool.renamed("new")) == text.replace(b'"old"', b'"new"')


def test_annotations_deeper_than_python_goes_are_no_hints() -> None:
    text = b'{"name":"t","inputSchema":{},"annotations":{"readOnlyHint":true,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    assert read_definition(text).annotations is None


def test_halves_of_surrogate_pairs_in_names_texts_and_members_do_not_lose_the_tool() -> None:
    text = rb'{"name":"a\ud800","description":"\udfff b","inputSchema":{"type":"object"},"\ud801":["\ud802"]}'
    tool = read_definition(text)
    assert (tool.name, tool.description) == ("a\ud800", "\udfff b")
    assert bytes(tool.renamed("a")) == text.replace(rb'"a\ud800"', b'"a"')


def test_halves_of_surrogate_pairs_in_values_alone_stay_verbatim_too() -> None:
    text = rb'{"name":"old","inputSchema":{"type":"object","d":"\ud800"}}'
    assert bytes(read_definition(text).renamed("new")) == text.replace(b"old", b"new")


def test_of_two_members_with_one_name_the_last_counts_and_the_renamed_definition_has_one() -> None:
    tool = read_definition(b'{"name":"first","inputSchema":{},"name":"second"}')
    assert tool.name == "second"
    assert json.loads(bytes(tool.renamed("new"))) == {"name": "new", "inputSchema": {}}
    assert bytes(tool.renamed("new")).count(b'"name"') == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "no JSON object"),
        (b"[]", "no JSON object"),
        (b'"t"', "no JSON object"),
        (b"null", "no JSON object"),
        (b'{"name":"t"', "no JSON object"),
        (b'{"name":"t","x":NaN}', "no JSON object"),
        (b"[" * 100_000, "no JSON object"),
        (b"{}", "has no name"),
        (b'{"Name":"t"}', "has no name"),
        (b'{"name":5}', "name is no string"),
        (b'{"name":null}', "name is no string"),
        (b'{"name":["t"]}', "name is no string"),
        (b'{"name":"\xff"}', "name is no string"),
    ],
)
def test_what_has_no_name_is_refused_with_the_reason(text: bytes, reason: str) -> None:
    with pytest.raises(TooltrayError, match=reason):
        read_definition(text)


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        (b'{"name":"t"}', "inputSchema is missing"),
        (b'{"name":"t","inputSchema":null}', "inputSchema is no object"),
        (b'{"name":"t","inputSchema":[]}', "inputSchema is no object"),
        (definition(description=5), "description is no string"),
        (definition(description=None), "description is no string"),
        (definition(title={}), "title is no string"),
        (definition(outputSchema=True), "outputSchema is no object"),
        (definition(annotations=["readOnlyHint"]), "annotations is no object"),
        (definition(annotations={"readOnlyHint": "yes"}), "readOnlyHint is no boolean"),
        (definition(icons={}), "icons is no array"),
        (definition(_meta="x"), "_meta is no object"),
    ],
)
def test_what_strict_clients_refuse_is_told_and_mended_and_the_rest_stays(text: bytes, flaw: str) -> None:
    tool = read_definition(text)
    assert flaw in tool.flaws
    mended = read_definition(tool.publishable)
    assert mended.flaws == ()
    whole, left = json.loads(text), json.loads(bytes(tool.publishable))
    fault = "annotations" if flaw.startswith("readOnlyHint") else flaw.split()[0]
    assert {**left, fault: None} == {"inputSchema": {"type": "object"}, **whole, fault: None}


def test_a_definition_without_flaws_is_published_verbatim() -> None:
    text = b'{ "name" : "t", "inputSchema":{"x": 1e400} }'
    assert bytes(read_definition(text).publishable) == text


def test_a_description_that_is_no_text_is_empty_and_annotations_come_as_they_are() -> None:
    tool = read_definition(definition(description=["no text"], annotations=[1]))
    assert (tool.description, tool.annotations) == ("", [1])
    assert read_definition(definition()).annotations is None


def test_of_a_list_the_usable_tools_are_kept_in_order_and_the_rest_is_told() -> None:
    found = read_definitions(
        [definition(name="b"), b"{}", definition(name="a"), definition(name="b", description="again"), b'{"name":"c"}']
    )
    assert [tool.name for tool in found.tools] == ["b", "a", "c"]
    assert found.tools[0].description == ""
    assert found.remarks == (
        "tool 2 of the list is left out: its definition has no name",
        "tool 4 of the list is left out: the name 'b' stands in it before",
        "tool 'c': inputSchema is missing",
    )


def test_five_thousand_tools_are_all_read() -> None:
    found = read_definitions(definition(name=f"tool{i}") for i in range(5000))
    assert [tool.name for tool in found.tools] == [f"tool{i}" for i in range(5000)]
    assert found.remarks == ()


def test_remarks_about_a_whole_list_are_bounded_and_the_rest_is_counted() -> None:
    found = read_definitions([b"{}"] * 5000)
    assert len(found.remarks) == MAX_REMARKS + 1
    assert "4980 more" in found.remarks[-1]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters()), json_values), st.text(st.characters()))
def test_any_definition_with_a_name_is_the_same_but_for_the_name(members: dict[str, Any], name: str) -> None:
    tool = read_definition(json.dumps({**members, "name": name}).encode())
    assert tool.name == name
    expected = {"inputSchema": {"type": "object"}, **members, "name": "new"}
    renamed = json.loads(bytes(tool.renamed("new")))
    assert renamed == {key: value for key, value in expected.items() if key in renamed}
    assert set(expected) - set(renamed) <= {flaw.split()[0] for flaw in tool.flaws}


def marked(mark: Any) -> dict[str, Any]:
    return {"inputSchema": {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": mark}}}}


def test_tools_that_mark_arguments_wrongly_are_left_out_where_calls_need_headers() -> None:
    found = read_definitions([definition(name="a", **marked("Region")), definition(name="b", **marked("Re gion"))], needs_headers=True)
    assert [tool.name for tool in found.tools] == ["a"]
    assert found.remarks == ("tool 'b' is left out: region: x-mcp-header is not the name of a header",)


def test_tools_that_mark_arguments_wrongly_are_used_where_calls_need_no_headers() -> None:
    assert [tool.name for tool in read_definitions([definition(**marked(5))]).tools] == ["t"]


@pytest.mark.parametrize("members", [b"", b',"inputSchema":{"x-mcp-header":' + b"[" * 100_000 + b"]" * 100_000 + b"}"])
def test_schemas_that_are_missing_or_too_deep_to_be_looked_at_need_no_headers(members: bytes) -> None:
    found = read_definitions([b'{"name":"t"' + members + b"}"], needs_headers=True)
    assert [tool.name for tool in found.tools] == ["t"]


@pytest.mark.parametrize(
    ("members", "is_task_only"),
    [
        ('"execution":{"taskSupport":"required"}', True),
        ('"execution":{"taskSupport":"optional"}', False),
        ('"execution":{"taskSupport":["required"]}', False),
        ('"execution":"required"', False),
        ('"taskSupport":"required"', False),
    ],
)
def test_whether_a_tool_can_be_called_as_a_task_alone_is_read(members: str, is_task_only: bool) -> None:
    assert read_definition(b'{"name":"t","inputSchema":{},%b}' % members.encode()).is_task_only is is_task_only


def usual(**changes: object) -> ToolDefinition:
    return read_definition(json.dumps(USUAL | changes).encode())


def test_order_and_white_space_do_not_count_and_what_nobody_reads_does_not_either() -> None:
    other = b'{ "inputSchema": {"properties": {"b": {}, "a": {}}, "type": "object"}, "_meta": {"x": 1}, "description": "d", "name": "t" }'
    assert fingerprint(usual()) == fingerprint(read_definition(other)) == fingerprint(usual(icons=[]))


@pytest.mark.parametrize("member", COVERED)
def test_every_member_that_is_read_counts(member: str) -> None:
    assert fingerprint(usual()) != fingerprint(usual(**{member: "other"}))


def test_a_hidden_character_and_a_number_count() -> None:
    assert fingerprint(usual()) != fingerprint(usual(description="d\u200b"))
    assert fingerprint(usual(annotations={"n": 2**70})) != fingerprint(usual(annotations={"n": 2**70 + 1}))


def test_every_byte_counts_of_what_names_a_member_twice_or_is_too_deep() -> None:
    first, second = b'{"name":"t","description":"a","description":"d"}', b'{"name":"t","description":"b","description":"d"}'
    assert fingerprint(read_definition(first)) != fingerprint(read_definition(second))
    deep = b'{"name":"t","inputSchema":' + b'{"a":' * 50_000 + b"%d" + b"}" * 50_000 + b"}"
    one, other = (ToolDefinition("t", "", None, raw) for raw in (deep % 1, deep % 2))  # type: ignore[arg-type]
    assert fingerprint(one) != fingerprint(other)
    assert definition_text(one).endswith("}")


def test_halves_of_characters_have_a_fingerprint() -> None:
    assert fingerprint(read_definition(b'{"name":"t","description":"\\ud800"}')) != fingerprint(usual())


def test_json_has_one_way_in_which_it_counts() -> None:
    assert canonical(b'{"b": 1, "a": [1.50, "\xc3\xbc"]}') == '{"a":[1.5,"ü"],"b":1}'
    with pytest.raises(TwiceNamed):
        canonical(b'{"a":1,"a":1}')
    with pytest.raises(ValueError, match="nested too deeply"):
        canonical(b"[" * 100_000)
