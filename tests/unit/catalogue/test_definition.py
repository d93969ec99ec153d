"""definition.py"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from tooltray.catalogue.definition import (
    COVERED,
    MAX_REMARKS,
    MENDED,
    NO_VIEW,
    ToolDefinition,
    ToolView,
    TwiceNamed,
    canonical,
    definition_text,
    fingerprint,
    read_definition,
    read_definitions,
    read_view,
    with_uris,
)
from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.envelope import dump

SCHEMA = b'{"type":"object"}'
USUAL = {"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}}}


def definition(**members: Any) -> bytes:
    return json.dumps({"name": "t", "inputSchema": {"type": "object"}, **members}).encode()


def test_what_the_hub_needs_is_read_and_the_rest_stays_as_it_came() -> None:
    text = b'{ "name":"read","description":"Reads.", "annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"},"x":1e400 }'
    tool = read_definition(Raw(text))
    assert (tool.name, tool.description, tool.annotations, tool.flaws) == ("read", "Reads.", {"readOnlyHint": True}, ())
    assert (bytes(tool.raw), tool.flaw) == (text, "")


def test_renaming_changes_the_name_alone_and_keeps_numbers_order_and_unknown_members() -> None:
    text = b'{"a":1180591620717411303424,"name":"old","b":[1e400, 0.1000000000000000055,{"name":"inner"}],"inputSchema":{"type":"object"}}'
    assert bytes(read_definition(text).renamed("srv_old")) == text.replace(b'"old"', b'"srv_old"')


def deep(levels: int) -> bytes:
    return b'{"name":"old","inputSchema":{"type":"object","p":' + b'{"a":[' * (levels // 2) + b"1" + b"]}" * (levels // 2) + b"}}"


@pytest.mark.parametrize("levels", [10, 170])
def test_schemas_that_every_client_can_parse_are_renamed_verbatim(levels: int) -> None:
    tool = read_definition(deep(levels))
    assert (tool.name, tool.flaws) == ("old", ())
    assert bytes(tool.renamed("new")) == deep(levels).replace(b'"old"', b'"new"')


@pytest.mark.parametrize("levels", [190, 900, 5_000, 100_000])
def test_schemas_that_are_too_deep_for_some_clients_are_cut_and_stay_whole_for_fingerprints(levels: int) -> None:
    tool = read_definition(deep(levels))
    assert bytes(tool.raw) == deep(levels)
    assert tool.flaws == ("inputSchema is nested more than 180 levels deep (deeper parts are left out)",)
    assert bytes(tool.renamed("new")) == b'{"name":"new","inputSchema":{"type":"object"}}'


def test_of_a_schema_that_is_too_deep_the_arguments_stay() -> None:
    properties = {"a": {"type": "string"}, "b": json.loads('{"x":' * 300 + "1" + "}" * 300)}
    tool = read_definition(definition(inputSchema={"type": "object", "properties": properties, "required": ["a"]}))
    assert json.loads(bytes(tool.renamed("t")))["inputSchema"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {}},
        "required": ["a"],
    }
    assert (
        json.loads(bytes(read_definition(definition(inputSchema=json.loads("[" * 300 + "]" * 300))).renamed("t")))["inputSchema"] == OBJECT
    )


def test_depth_is_found_beside_much_that_is_flat() -> None:
    text = deep(190).replace(b'"p":', b'"flat":[%b{}],"p":' % (b"{}," * 500))
    assert read_definition(text).flaws == ("inputSchema is nested more than 180 levels deep (deeper parts are left out)",)


def test_depth_is_found_beside_something_less_deep() -> None:
    text = deep(185).replace(b'"name"', b'"beside":%b%b,"name"' % (b"[" * 10, b"]" * 10), 1)
    assert read_definition(text).flaws == ("inputSchema is nested more than 180 levels deep (deeper parts are left out)",)


def test_many_braces_beside_each_other_or_in_a_text_are_not_deep() -> None:
    text = b'{"name":"t","description":"%b","inputSchema":{"type":"object","a":[%b{}]}}' % (b"{[" * 500, b"{}," * 500)
    assert read_definition(text).mended is None


def test_annotations_deeper_than_python_goes_are_no_hints() -> None:
    text = b'{"name":"t","inputSchema":{},"annotations":{"readOnlyHint":true,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    assert read_definition(text).annotations is None


def test_halves_of_surrogate_pairs_in_names_texts_and_members_do_not_lose_the_tool() -> None:
    text = rb'{"name":"a\ud800","description":"\udfff b","inputSchema":{"type":"object"},"\ud801":["\ud802 \\ud802 \ud83d\ude00"]}'
    tool = read_definition(text)
    assert (tool.name, tool.description, bytes(tool.raw)) == ("a\ud800", "\udfff b", text)
    expected = rb'{"name":"a","description":"\ufffd b","inputSchema":{"type":"object"},"\ufffd":["\ufffd \\ud802 \ud83d\ude00"]}'
    assert json.loads(bytes(tool.renamed("a"))) == json.loads(expected)
    assert tool.flaws == ("its text has half of a surrogate pair in it (U+FFFD is used)",)


def test_halves_are_replaced_also_in_values_that_nobody_reads_and_whole_pairs_stay() -> None:
    text = rb'{"name":"old","inputSchema":{"type":"object","d":"\ud800","e":"\ud83d\ude00"}}'
    assert bytes(read_definition(text).renamed("new")) == text.replace(b"old", b"new").replace(b"\\ud800", b"\\ufffd")


def test_of_two_members_with_one_name_the_last_counts_and_the_renamed_definition_has_one() -> None:
    tool = read_definition(b'{"name":"first","inputSchema":{"type":"object"},"name":"second"}')
    assert tool.name == "second"
    assert json.loads(bytes(tool.renamed("new"))) == {"name": "new", "inputSchema": {"type": "object"}}
    assert bytes(tool.renamed("new")).count(b'"name"') == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b'"t"', "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'{"name":"t"', "not a JSON object"),
        (b'{"name":"t","x":NaN}', "not a JSON object"),
        (b"[" * 100_000, "not a JSON object"),
        (b"{}", "has no name"),
        (b'{"Name":"t"}', "has no name"),
        (b'{"name":5}', "name is not a string"),
        (b'{"name":null}', "name is not a string"),
        (b'{"name":["t"]}', "name is not a string"),
        (b'{"name":"\xff"}', "name is not a string"),
    ],
)
def test_what_has_no_name_is_refused_with_the_reason(text: bytes, reason: str) -> None:
    with pytest.raises(TooltrayError, match=reason):
        read_definition(text)


OBJECT = {"type": "object"}


@pytest.mark.parametrize(
    ("members", "mended", "flaw"),
    [
        ({"inputSchema": None}, {"inputSchema": OBJECT}, 'inputSchema is null, not an object ({"type":"object"} is used)'),
        ({"inputSchema": []}, {"inputSchema": OBJECT}, 'inputSchema is an array, not an object ({"type":"object"} is used)'),
        ({"inputSchema": {}}, {"inputSchema": OBJECT}, 'inputSchema has no "type", which has to be "object" (added)'),
        (
            {"inputSchema": {"type": ["object", "null"]}},
            {"inputSchema": OBJECT},
            'inputSchema.type is ["object", "null"], not "object" ("object" is used)',
        ),
        (
            {"inputSchema": {"type": "a" * 99}},
            {"inputSchema": OBJECT},
            f'inputSchema.type is "{"a" * 38}…, not "object" ("object" is used)',
        ),
        (
            {"inputSchema": {**OBJECT, "properties": []}},
            {"inputSchema": {**OBJECT, "properties": {}}},
            "inputSchema.properties is an array, not an object ({} is used)",
        ),
        (
            {"inputSchema": {**OBJECT, "properties": [1]}},
            {"inputSchema": OBJECT},
            "inputSchema.properties is an array, not an object (left out)",
        ),
        (
            {"inputSchema": {**OBJECT, "properties": {"a": True}}},
            {"inputSchema": {**OBJECT, "properties": {"a": {}}}},
            "inputSchema.properties.a is true, not an object ({} is used)",
        ),
        (
            {"inputSchema": {**OBJECT, "properties": {"a": False}}},
            {"inputSchema": {**OBJECT, "properties": {"a": {"not": {}}}}},
            'inputSchema.properties.a is false, not an object ({"not":{}} is used)',
        ),
        (
            {"inputSchema": {**OBJECT, "properties": {"a": "integer", "b": {"x": 1}}}},
            {"inputSchema": {**OBJECT, "properties": {"a": {"type": "integer"}, "b": {"x": 1}}}},
            'inputSchema.properties.a is a string, not an object ({"type":"integer"} is used)',
        ),
        (
            {"inputSchema": {**OBJECT, "required": True}},
            {"inputSchema": OBJECT},
            "inputSchema.required is true, not an array of strings (left out)",
        ),
        (
            {"inputSchema": {**OBJECT, "required": ["a", 1]}},
            {"inputSchema": {**OBJECT, "required": ["a"]}},
            "inputSchema.required[1] is a number, not a string (left out)",
        ),
        ({"outputSchema": True}, {}, "outputSchema is true, not an object (left out)"),
        (
            {"outputSchema": {"properties": {}}},
            {"outputSchema": {"properties": {}, **OBJECT}},
            'outputSchema has no "type", which has to be "object" (added)',
        ),
        ({"description": 5}, {}, "description is a number, not a string (left out)"),
        ({"title": {}}, {}, "title is an object, not a string (left out)"),
        ({"annotations": ["readOnlyHint"]}, {}, "annotations is an array, not an object (left out)"),
        (
            {"annotations": {"readOnlyHint": "yes", "x": 1}},
            {"annotations": {"x": 1}},
            "annotations.readOnlyHint is a string, not true or false (left out)",
        ),
        ({"annotations": {"title": None}}, {"annotations": {}}, "annotations.title is null, not a string (left out)"),
        ({"execution": None}, {}, "execution is null, not an object (left out)"),
        (
            {"execution": {"taskSupport": "never"}},
            {"execution": {}},
            'execution.taskSupport is "never", not "required", "optional" or "forbidden" (left out)',
        ),
        ({"icons": {}}, {}, "icons is an object, not an array of icons (left out)"),
        ({"icons": [{}, {"src": "x"}]}, {"icons": [{"src": "x"}]}, "icons[0] has no src that is a string (left out)"),
        ({"icons": [7]}, {"icons": []}, "icons[0] is a number, not an object (left out)"),
        (
            {"icons": [{"src": "x", "sizes": "48x48"}]},
            {"icons": [{"src": "x", "sizes": ["48x48"]}]},
            'icons[0].sizes is a string, not an array of strings (["48x48"] is used)',
        ),
        ({"_meta": "x"}, {}, "_meta is a string, not an object (left out)"),
        ({"_meta": json.loads("[" * 300 + "]" * 300)}, {}, "_meta is nested more than 180 levels deep (left out)"),
    ],
)
def test_what_strict_clients_refuse_is_mended_and_the_author_reads_how(members: dict[str, Any], mended: dict[str, Any], flaw: str) -> None:
    text = definition(**members)
    tool = read_definition(text)
    assert (bytes(tool.raw), tool.flaws, tool.flaw) == (text, (flaw,), MENDED)
    assert json.loads(bytes(tool.renamed("t"))) == {"name": "t", "inputSchema": OBJECT, **mended}
    assert fingerprint(tool) == fingerprint(ToolDefinition(tool.name, tool.description, tool.annotations, tool.raw))


def test_a_tool_without_a_schema_takes_any_arguments() -> None:
    tool = read_definition(b'{"name":"t"}')
    assert tool.flaws == ('inputSchema is missing ({"type":"object"} is used)',)
    assert json.loads(bytes(tool.renamed("t"))) == {"name": "t", "inputSchema": OBJECT}


def test_a_definition_without_flaws_is_published_verbatim() -> None:
    text = b'{"name":"t","inputSchema":{"type":"object","x": 1e400}}'
    assert bytes(read_definition(text).renamed("t")) == text


def test_what_a_modern_server_may_write_is_no_flaw() -> None:
    schema = {**OBJECT, "properties": {"a": True}}
    tool = read_definition(definition(inputSchema=schema, outputSchema={"type": "array"}), is_modern=True)
    assert tool.flaws == ()
    assert json.loads(bytes(tool.renamed("t")))["inputSchema"] == {**OBJECT, "properties": {"a": {}}}


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
        "tool 4 of the list is left out: the name 'b' is already in the list",
        """tool 'c': inputSchema is missing ({"type":"object"} is used)""",
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
    assert tool.flaws or renamed == expected


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


MODELS_TOO = ToolView(("ui://v",))


@pytest.mark.parametrize(
    ("meta", "view"),
    [
        ({"ui": {"resourceUri": "ui://v"}}, MODELS_TOO),
        ({"ui/resourceUri": "ui://v"}, MODELS_TOO),
        ({"ui": {"resourceUri": "ui://v"}, "ui/resourceUri": "ui://v"}, MODELS_TOO),
        ({"ui": {"resourceUri": "ui://v"}, "ui/resourceUri": "ui://w"}, ToolView(("ui://v", "ui://w"))),
        ({"ui": {"visibility": ["app"]}}, ToolView((), is_for_models=False)),
        ({"ui": {"visibility": ["model"]}}, ToolView((), is_for_apps=False)),
        ({"ui": {"visibility": ["model", "robot"]}}, ToolView((), is_for_apps=False)),
        ({"ui": {"visibility": [{}, "app"]}}, ToolView((), is_for_models=False)),
        ({"ui": {"visibility": []}}, ToolView((), False, False)),
    ],
)
def test_a_definition_says_which_view_a_tool_has_and_who_it_is_for(meta: Any, view: ToolView) -> None:
    assert read_view(dump(meta)) == view
    for schema in ({}, {"inputSchema": OBJECT}):
        assert read_definition(dump({"name": "t", **schema, "_meta": meta})).view == view


@pytest.mark.parametrize(
    "meta",
    [
        b"{}",
        b"5",
        b'["ui"]',
        b'{"ui":5}',
        b'{"ui":null,"ui/resourceUri":null}',
        b'{"ui":["resourceUri"]}',
        b'{"ui":{"resourceUri":5,"visibility":"app"}}',
        b'{"ui":{"resourceUri":"https://v"},"ui/resourceUri":{}}',
        b'{"ui":{"visibility":' + b"[" * 5000 + b"]" * 5000 + b"}}",
    ],
)
def test_what_is_of_the_wrong_type_is_as_if_it_were_not_there(meta: bytes) -> None:
    assert read_view(Raw(meta)) is NO_VIEW
    for schema in (b"", b'"inputSchema":{"type":"object"},'):
        assert read_definition(b'{"name":"t",%b"_meta":%b}' % (schema, meta)).view is NO_VIEW


def test_a_definition_that_speaks_of_a_view_and_has_none_has_none() -> None:
    assert read_definition(definition(description='"ui')).view is NO_VIEW


def test_a_definition_names_another_uri_and_is_the_same_in_all_else() -> None:
    kept = b'"x":1e400,"inputSchema":{"a" : [1]}'
    csp = b'"csp":{"connectDomains":[ "https://a" ]},"other":"ui://v"'
    raw = b'{"name":"t",%b,"_meta":{"ui":{%b,"resourceUri":"ui://v"},"y":null,"ui/resourceUri":"ui://v"}}' % (kept, csp)
    moved = b'{"name":"t",%b,"_meta":{"ui":{%b,"resourceUri":"ui://a/ui://v"},"y":null,"ui/resourceUri":"ui://a/ui://v"}}' % (kept, csp)
    assert bytes(with_uris(Raw(raw), "ui://a/".__add__)) == moved


@pytest.mark.parametrize("meta", [{"ui": {"resourceUri": "ui://v"}}, {"ui/resourceUri": "ui://v"}])
def test_a_view_may_be_named_in_either_place(meta: dict[str, Any]) -> None:
    moved = with_uris(dump({"name": "t", "_meta": meta}), "ui://a/".__add__)
    assert bytes(moved) == bytes(dump({"name": "t", "_meta": meta})).replace(b"ui://v", b"ui://a/ui://v")


@pytest.mark.parametrize("ui", [5, None, {}, {"resourceUri": 5}, {"resourceUri": "file:///x"}])
def test_what_is_no_view_stays_in_a_definition_that_names_one_otherwise(ui: Any) -> None:
    moved = with_uris(dump({"name": "t", "_meta": {"ui": ui, "ui/resourceUri": "ui://v"}}), "ui://a/".__add__)
    assert json.loads(bytes(moved))["_meta"] == {"ui": ui, "ui/resourceUri": "ui://a/ui://v"}
    moved = with_uris(dump({"name": "t", "_meta": {"ui": {"resourceUri": "ui://v"}, "ui/resourceUri": ui}}), "ui://a/".__add__)
    assert json.loads(bytes(moved))["_meta"] == {"ui": {"resourceUri": "ui://a/ui://v"}, "ui/resourceUri": ui}
