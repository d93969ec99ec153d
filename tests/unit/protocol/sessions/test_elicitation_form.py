"""A server's question is read as the protocol has it, made harmless for the eyes, and left as it was for the answer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField, ElicitationOption
from tooltray.protocol.sessions.elicitation_form import (
    LONGEST_TITLE,
    LONGEST_URL,
    MOST_FIELDS,
    MOST_OPTIONS,
    CannotAsk,
    plain,
    read_form,
    read_url,
)

K = AnswerKind


def only(written: Any, *, required: bool = False) -> ElicitationField:
    (field,) = read_form({"type": "object", "properties": {"x": written}, "required": ["x"] if required else []})
    return field


def options(*pairs: tuple[str, str]) -> tuple[ElicitationOption, ...]:
    return tuple(ElicitationOption(value, title) for value, title in pairs)


# texts


def test_text_loses_control_characters_and_what_turns_its_direction() -> None:
    assert plain("a\x1b[31mb\u202ec\u2066d\ud800e\u0000", 99) == "a[31mbcde"


def test_lines_stay_where_they_may_and_become_spaces_elsewhere() -> None:
    assert plain("one\r\ntwo\u2028three\tfour", 99, keeps_lines=True) == "one\ntwo\nthree four"
    assert plain("one\ntwo", 99) == "one two"


def test_joined_signs_stay_joined() -> None:
    assert plain("👩\u200d💻", 99) == "👩\u200d💻"


def test_text_that_is_too_long_ends_in_an_ellipsis() -> None:
    assert plain("a" * 11, 10) == "a" * 9 + "…"
    assert plain("a" * 10, 10) == "a" * 10


@pytest.mark.parametrize("value", [None, 1, ["a"], {"a": "b"}])
def test_what_is_no_text_is_none(value: Any) -> None:
    assert plain(value, 10) == ""


@given(st.text(), st.integers(1, 50))
def test_plain_text_is_bounded_and_printable(text: str, most: int) -> None:
    shown = plain(text, most)
    assert len(shown) <= most
    assert "\n" not in shown


# addresses


@pytest.mark.parametrize("url", ["https://example.org/a?b=c#d", "http://localhost:8/x", "HTTPS://xn--pple-43d.com/"])
def test_an_address_is_given_as_the_server_wrote_it(url: str) -> None:
    assert read_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "https://a/" + "x" * LONGEST_URL,
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https:///path",
        "https://good.example@evil.example/",
        "https://good.example\\@evil.example/",
        "https://a b/",
        "https://a/\n",
        "https://аpple.com/",
        "https://[::1",
    ],
)
def test_an_address_that_misleads_or_is_none_is_refused(url: Any) -> None:
    with pytest.raises(CannotAsk, match="url"):
        read_url(url)


# forms


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"type": "string"}, ElicitationField("x", "x", K.TEXT)),
        (
            {"type": "string", "title": "Mail\n", "description": "D", "format": "email", "minLength": 3, "maxLength": 9, "default": "a@b"},
            ElicitationField("x", "Mail", K.TEXT, "D", default="a@b", format="email", least=3, most=9),
        ),
        ({"type": "number", "minimum": 0.5, "default": 1.5}, ElicitationField("x", "x", K.NUMBER, default=1.5, least=0.5)),
        ({"type": "integer", "maximum": 9, "default": 2}, ElicitationField("x", "x", K.INTEGER, default=2, most=9)),
        ({"type": "boolean", "default": True}, ElicitationField("x", "x", K.BOOLEAN, default=True)),
        (
            {"type": "string", "enum": ["a", "b"], "default": "b"},
            ElicitationField("x", "x", K.CHOICE, default="b", options=options(("a", "a"), ("b", "b"))),
        ),
        ({"type": "string", "enum": ["a"], "enumNames": ["A"]}, ElicitationField("x", "x", K.CHOICE, options=options(("a", "A")))),
        ({"type": "string", "enum": ["a"], "enumNames": []}, ElicitationField("x", "x", K.CHOICE, options=options(("a", "a")))),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}, 5]}, ElicitationField("x", "x", K.CHOICE, options=options(("a", "A")))),
        (
            {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2, "default": ["b", "z", 1]},
            ElicitationField("x", "x", K.CHOICES, default=("b",), options=options(("a", "a"), ("b", "b")), least=1, most=2),
        ),
        (
            {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
            ElicitationField("x", "x", K.CHOICES, options=options(("a", "A"))),
        ),
        ({"type": ["string", "null"]}, ElicitationField("x", "x", K.TEXT)),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "title": "N"}, ElicitationField("x", "N", K.INTEGER)),
    ],
)
def test_each_kind_of_field_is_read(written: dict[str, Any], expected: ElicitationField) -> None:
    assert only(written) == expected


@pytest.mark.parametrize(
    ("written", "default"),
    [
        ({"type": "boolean", "default": "yes"}, None),
        ({"type": "string", "default": 5}, None),
        ({"type": "string", "default": "two\nlines"}, None),
        ({"type": "integer", "default": 1.5}, None),
        ({"type": "number", "default": True}, None),
        ({"type": "number", "default": float("inf")}, None),
        ({"type": "number", "default": float("nan")}, None),
        ({"type": "number", "default": 1e305}, None),
        ({"type": "integer", "default": -(10**400)}, None),
        ({"type": "string", "enum": ["a"], "default": "b"}, None),
        ({"type": "array", "items": {"enum": ["a"]}, "default": "a"}, None),
    ],
)
def test_a_default_of_another_kind_is_left_out(written: dict[str, Any], default: object) -> None:
    assert only(written).default is default


def test_titles_are_cut_and_values_are_not_changed() -> None:
    field = only({"type": "string", "enum": ["a\u202eb"], "title": "t" * 999})
    assert len(field.title) == LONGEST_TITLE
    assert field.options == options(("a\u202eb", "ab"))


def test_what_no_form_may_have_is_left_out_where_it_is_optional() -> None:
    odd = {
        "a": {"type": "object"},
        "b": {"type": "array", "items": 5},
        "c": 5,
        "d": {"anyOf": [{}, {}]},
        "e": {"type": ["string", "integer"]},
        "f": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    }
    assert read_form({"properties": odd | {"x": {"type": "string"}}, "required": 5}) == (ElicitationField("x", "x", K.TEXT),)


def test_what_no_form_may_have_is_refused_where_it_is_required() -> None:
    with pytest.raises(CannotAsk, match="'x' is required"):
        only({"type": "object"}, required=True)
    assert only({"type": "string"}, required=True).is_required


@pytest.mark.parametrize(
    "schema", [None, [], {}, {"properties": []}, {"properties": {str(number): {} for number in range(MOST_FIELDS + 1)}}]
)
def test_what_is_no_form_is_refused(schema: Any) -> None:
    with pytest.raises(CannotAsk, match="requestedSchema"):
        read_form(schema)


def test_more_options_than_a_person_can_look_through_are_refused() -> None:
    with pytest.raises(CannotAsk, match="options"):
        only({"type": "string", "enum": [str(number) for number in range(MOST_OPTIONS + 1)]})
    assert len(only({"type": "string", "enum": [str(number) for number in range(MOST_OPTIONS)] + [5]}).options) == MOST_OPTIONS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(JSON)
def test_whatever_a_server_writes_is_read_or_refused(schema: Any) -> None:
    for written in (schema, {"properties": {"x": schema}}, {"properties": {"x": {"type": "string", "enum": schema, "default": schema}}}):
        try:
            read_form(written)
        except CannotAsk:
            pass
