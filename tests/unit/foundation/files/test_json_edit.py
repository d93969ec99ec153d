"""json_edit.py: one member goes or is written, every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.files.json_edit import with_member, without_member
from tooltray.foundation.files.json_places import MAX_DEPTH, CannotRead, read


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ('{"a": 1}', ["a"], "{}"),
        ('{"a": 1, "b": 2}', ["a"], '{ "b": 2}'),
        ('{"a": 1, "b": 2}', ["b"], '{"a": 1}'),
        ('{\n  "a": 1,\n  "b": 2\n}\n', ["a"], '{\n  "b": 2\n}\n'),
        ('{\n  "a": 1,\n  "b": 2\n}\n', ["b"], '{\n  "a": 1\n}\n'),
        ('{\n  "a": 1,\n  "b": 2,\n}\n', ["b"], '{\n  "a": 1,\n}\n'),
        ('{\n  "a": 1, // one\n  "b": 2\n}\n', ["b"], '{\n  "a": 1 // one\n}\n'),
        ('{\n  "a": 1, // one\n  "b": 2,\n}\n', ["b"], '{\n  "a": 1, // one\n}\n'),
        (
            '{\n  // mine\n  "a": {"x": [1, {}]},\n  "b": {"c": true, "d": null}\n}',
            ["b", "c"],
            '{\n  // mine\n  "a": {"x": [1, {}]},\n  "b": { "d": null}\n}',
        ),
        ('\ufeff{"a": 1}', ["a"], "\ufeff{}"),
        ('{"a,}": "\\"{", /* "b" */ "b": 1}', ["b"], '{"a,}": "\\"{" /* "b" */}'),
        ('{"a": 1, // one\n"b": 2}', ["b"], '{"a": 1 // one\n}'),
        ('{"a": 1 // one\n, "b": 2}', ["a"], '{ // one\n "b": 2}'),
        ('{ // none\n"a": 1}', ["a"], "{ // none\n}"),
        ('{ // {\n"a": 1\n}', ["a"], "{ // {\n}"),
        ('{\r\n\t"a": 1,\r\n\t"b": 2\r\n}', ["a"], '{\r\n\t"b": 2\r\n}'),
    ],
)
def test_one_member_goes_and_the_rest_stays_as_it_was_written(text: str, path: list[str], expected: str) -> None:
    assert without_member(text, path) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a"',
        '{"a":',
        '{"a":}',
        '{"a":1 "b":2}',
        "{1:2}",
        "[1",
        "[1 2]",
        '"a',
        "nonsense",
        "{} {}",
        "{'a': 1}",
        "\x00",
        "[" * (MAX_DEPTH + 2),
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(CannotRead):
        read(text)


@pytest.mark.parametrize("path", [["b"], ["a", "b"]])
def test_a_member_that_is_not_there_is_refused(path: list[str]) -> None:
    with pytest.raises(CannotRead, match="not found"):
        without_member('{"a": 1}', path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(document=st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=5), indent=st.sampled_from([None, 2, 4]), data=st.data())
def test_any_member_of_any_document_can_go(document: dict[str, Any], indent: int | None, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(document)))
    text = json.dumps(document, indent=indent, ensure_ascii=data.draw(st.booleans()))
    assert read(text).content == document
    after = without_member(text, [key])
    del document[key]
    assert json.loads(after) == document


@pytest.mark.parametrize(
    ("text", "path", "content", "expected"),
    [
        ("{}", ["a"], 1, '{\n  "a": 1\n}'),
        ("{}\n", ["a"], {"b": [1]}, '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}\n'),
        ("{\n}", ["a"], 1, '{\n  "a": 1\n}'),
        ("{ // none\n}", ["a"], 1, '{ // none\n  "a": 1\n}'),
        ('{"a": 1}', ["b"], {"c": [1, 2]}, '{"a": 1, "b": {"c": [1, 2]}}'),
        ('{"a": 1,}', ["b"], 2, '{"a": 1, "b": 2,}'),
        ('{"a": 1 // one\n}', ["b"], 2, '{"a": 1, // one\n  "b": 2\n}'),
        ('{\n\t"a": 1\n}\n', ["b"], {"c": 2}, '{\n\t"a": 1,\n\t"b": {\n\t\t"c": 2\n\t}\n}\n'),
        ('{\r\n    "a": 1, // one\r\n}\r\n', ["b"], {"c": 2}, '{\r\n    "a": 1, // one\r\n    "b": {\r\n        "c": 2\r\n    },\r\n}\r\n'),
        ('{\n  "a": {"b": 1}\n}', ["a", "c"], 2, '{\n  "a": {"b": 1, "c": 2}\n}'),
        ('{\n  "a": {}\n}', ["a", "c"], 2, '{\n  "a": {\n    "c": 2\n  }\n}'),
        ('{"a": 1, "b": 2}', ["a"], "é", '{"a": "é", "b": 2}'),
        ('{"a": [1]}', ["a"], [1, 2], '{"a": [1, 2]}'),
        ('{"a": [\n  1\n]}', ["a"], [2], '{"a": [\n  2\n]}'),
        ('{\n  "a": {} // none yet\n}', ["a"], {"b": 1}, '{\n  "a": {\n    "b": 1\n  } // none yet\n}'),
        ('{"a": {"b": 1, /* two */ "c": 2}}', ["a"], {"b": 1, "c": 3}, '{"a": {"b": 1, /* two */ "c": 3}}'),
        ('{"a": {"b": 1, "c": 2, "b": 1}}', ["a"], {"c": 2}, '{"a": { "c": 2}}'),
        ('{"a": {"b": 1}}', ["a"], {}, '{"a": {}}'),
        ('{ "a" : 1 }', ["a"], 1, '{ "a" : 1 }'),
        ('{"a": 1}', ["a"], True, '{"a": true}'),
        ("\ufeff{}", ["\ud800"], "\ud800", '\ufeff{\n  "\\ud800": "\\ud800"\n}'),
    ],
)
def test_one_member_is_written_and_the_rest_stays_as_it_was(text: str, path: list[str], content: Any, expected: str) -> None:
    after = with_member(text, path, content)
    assert after == expected
    read(after)


@pytest.mark.parametrize("content", [float("nan"), object(), {1: object()}])
def test_what_has_no_json_form_is_not_written(content: Any) -> None:
    with pytest.raises(CannotRead, match="no JSON form"):
        with_member("{}", ["a"], content)


@pytest.mark.parametrize(("text", "path"), [("[]", ["a"]), ('{"a": 1}', ["a", "b"]), ("{}", ["a", "b"]), ("{", ["a"])])
def test_nothing_is_written_where_no_object_is(text: str, path: list[str]) -> None:
    with pytest.raises(CannotRead):
        with_member(text, path, 1)


GAPS: st.SearchStrategy[str] = st.sampled_from(["", " ", "\n", "\n    ", "\r\n\t", " // gap, {\n", '/* gap " */', " \n // [ \n\n  "])


def loosely(document: Any, data: st.DataObject) -> str:
    """A document with comments and space wherever they may stand, and trailing commas."""

    def gap() -> str:
        return str(data.draw(GAPS))

    def written(value: Any) -> str:
        if not isinstance(value, dict):
            return json.dumps(value)
        members = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{written(member)}{gap()}" for key, member in value.items()]
        ends_with_comma = data.draw(st.booleans()) if members else False
        return "{" + ",".join(members) + ("," if ends_with_comma else "") + gap() + "}"

    return gap() + written(document) + gap()


SMALL = st.recursive(
    st.integers(0, 3) | st.lists(st.booleans(), max_size=2), lambda inner: st.dictionaries(st.sampled_from("abc"), inner), max_leaves=8
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), SMALL, max_size=4)


@given(document=OBJECTS, key=st.sampled_from("abcde"), content=SMALL, data=st.data())
def test_any_member_can_be_written_into_any_text(document: dict[str, Any], key: str, content: Any, data: st.DataObject) -> None:
    text = loosely(document, data)
    after = with_member(text, [key], content)
    assert read(after).content == document | {key: content}
    assert with_member(after, [key], content) == after


@given(document=OBJECTS, data=st.data())
def test_any_member_can_go_from_any_text(document: dict[str, Any], data: st.DataObject) -> None:
    text = loosely(document, data)
    for key in data.draw(st.permutations(list(document))):
        text = without_member(text, [key])
        del document[key]
        assert read(text).content == document


LAYOUTS = st.sampled_from(
    [
        '{"s": {}}',
        '{"s":{"a":1}}',
        '{\n  "s": {\n    "a": 1 // one\n  }\n}\n',
        '{\n\t"s": {\n\t\t"a": 1, /* one */\n\t\t"b": {"x": []}\n\t},\n\t"t": 1\n}',
        '// top\n{\n  "s": {\n    "a": 1,\n    "b": 2,\n  },\n}\n',
        '{\n  "t": 1,\n  "s": {\n    // nothing\n  }\n}\n',
    ]
)


@given(text=LAYOUTS, mark=st.sampled_from(["", "\ufeff"]), end=st.sampled_from(["\n", "\r\n"]), content=JSON)
def test_what_goes_in_comes_out_to_the_byte(text: str, mark: str, end: str, content: Any) -> None:
    text = mark + text.replace("\n", end)
    after = with_member(text, ["s", "hub"], content)
    assert read(after).content["s"]["hub"] == content  # type: ignore[index]
    assert without_member(after, ["s", "hub"]) == text
