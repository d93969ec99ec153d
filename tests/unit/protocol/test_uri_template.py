"""uri_template.py"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.protocol.uri_template import MAX_EXPRESSIONS, MAX_URI_LENGTH, UriTemplate


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("test://static", "test://static", []),
        ("test://template/{id}/data", "test://template/42/data", ["42"]),
        ("test://template/{id}/data", "test://template/a%20b/data", ["a%20b"]),
        ("{scheme}://{host}/x", "db://h/x", ["db", "h"]),
        ("file:///{+path}", "file:///a/b/c.txt", ["a/b/c.txt"]),
        ("file:///{path*}", "file:///a,b", ["a,b"]),
        ("x://{id:3}", "x://abc", ["abc"]),
        ("x://{a,b}", "x://1,2", ["1,2"]),
        ("x://a{/path*}", "x://a/b/c", ["/b/c"]),
        ("x://a{/path*}", "x://a", [""]),
        ("x://a{/path*}/end", "x://a/b/end", ["/b"]),
        ("x://a{.ext}", "x://a.tar", [".tar"]),
        ("x://a{;v}", "x://a;v=1", [";v=1"]),
        ("x://a{?q,n}", "x://a?q=1&n=2", ["?q=1&n=2"]),
        ("x://a{?q}", "x://a", [""]),
        ("x://a?fixed=1{&q}", "x://a?fixed=1&q=2", ["&q=2"]),
        ("x://a{#part}", "x://a#b/c", ["#b/c"]),
        ("x://{a}{?q}{#f}", "x://v?q=1#f", ["v", "?q=1", "#f"]),
        ("x://{a}-{b}", "x://1-2-3", ["1-2", "3"]),
        ("x://{a}{b}", "x://123", ["12", "3"]),
        ("x://a{b", "x://a{b", []),
        ("x://{é}/ü", "x://ß/ü", ["ß"]),
        ("{+all}", "anything at all", ["anything at all"]),
    ],
)
def test_a_uri_that_can_come_from_a_template_is_taken_apart(template: str, uri: str, values: list[str]) -> None:
    parsed = UriTemplate(template)
    assert parsed.match(uri) == values
    assert parsed.expanded(values) == uri


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("test://static", "test://static/"),
        ("test://template/{id}/data", "test://template/a/b/data"),
        ("test://template/{id}/data", "test://template//data"),
        ("test://template/{id}", "other://template/1"),
        ("users/{id}", "users/"),
        ("file:///{+path}", "file:///"),
        ("x://a{/path*}", "x://ab"),
        ("x://a{/path*}", "x://a/b?q"),
        ("x://a{.ext}", "x://atar"),
        ("x://a{.ext}", "x://a.b/c"),
        ("x://a{;v}", "x://a;v=1/b"),
        ("x://a{?q}", "x://a&q=1"),
        ("x://a{?q}", "x://a?q=1#f"),
        ("x://a{&q}", "x://a&q#f"),
        ("x://a{/path*}end", "x://a?/end"),
        ("x://{a}/y", "x://1/z"),
        ("", "x"),
    ],
)
def test_a_uri_that_cannot_come_from_a_template_is_told(template: str, uri: str) -> None:
    assert UriTemplate(template).match(uri) is None


def test_the_literal_text_can_be_changed_and_the_expressions_stay() -> None:
    changed = UriTemplate("db://{table}/rows{?limit,offset}").changed(lambda text: text.replace("/", "%2F").upper(), prefix="hub://s/")
    assert changed.text == "hub://s/DB:%2F%2F{table}%2FROWS{?limit,offset}"
    assert changed.match("hub://s/DB:%2F%2Fusers%2FROWS?limit=5") == ["users", "?limit=5"]


@pytest.mark.parametrize("template", ["x://" + "{a}-" * MAX_EXPRESSIONS, "x://" + "{+a}" * MAX_EXPRESSIONS + "!", "x://" + "{a}{.b}" * 32])
def test_what_makes_other_matchers_try_for_ever_is_answered(template: str) -> None:
    assert UriTemplate(template).match("x://" + "-.-" * 600 + "/?") is None


def test_a_uri_or_a_template_beyond_all_measure_does_not_match() -> None:
    uri = "x" * MAX_URI_LENGTH
    assert UriTemplate("{+a}").match(uri) == [uri]
    assert UriTemplate("{+a}").match(uri + "x") is None
    assert UriTemplate("{+a}" * MAX_EXPRESSIONS).match(uri)
    assert UriTemplate("{+a}" * (MAX_EXPRESSIONS + 1)).match(uri) is None


FORMS = {
    "{a}": "[^/?#]+",
    "{+a}": ".+",
    "{#a}": "(?:#.*)?",
    "{.a}": r"(?:\.[^/]*)?",
    "{/a*}": "(?:/[^?#]*)?",
    "{;a}": "(?:;[^/?#]*)?",
    "{?a}": r"(?:\?[^#]*)?",
    "{&a}": "(?:&[^#]*)?",
}


@given(st.lists(st.sampled_from([*FORMS, "x", "/", "?", "-"]), max_size=6), st.text("x/?#.;&-y", max_size=12))
def test_it_matches_what_a_regular_expression_of_the_same_forms_matches(parts: list[str], uri: str) -> None:
    pattern = "".join(FORMS.get(part) or re.escape(part) for part in parts)
    template = UriTemplate("".join(parts))
    values = template.match(uri)
    assert (values is not None) == bool(re.fullmatch(pattern, uri))
    if values is not None:
        assert template.expanded(values) == uri
        expressions = [part for part in parts if part in FORMS]
        assert all(re.fullmatch(FORMS[each], value) for each, value in zip(expressions, values, strict=True))
