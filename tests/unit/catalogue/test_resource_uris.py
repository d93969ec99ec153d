"""catalogue/resource_uris.py"""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.catalogue.resource_uris import ResourceUris


def both(*uris: str, templates: tuple[str, ...] = ()) -> ResourceUris:
    """Two servers that list the same."""
    return ResourceUris({"a": uris, "b": uris}, {"a": templates, "b": templates})


def test_a_uri_that_one_server_lists_stays_as_it_is() -> None:
    uris = ResourceUris({"a": ["file:///x"], "b": ["file:///y"]}, {})
    assert uris.published_uri("a", "file:///x") == "file:///x"
    assert list(uris.targets("file:///x")) == [("a", "file:///x")]
    assert list(uris.targets("file:///y")) == [("b", "file:///y")]
    assert list(uris.targets("file:///z")) == []


def test_a_uri_that_two_servers_list_gets_the_name_of_each() -> None:
    uris = both("file:///a b?q=1#f")
    published = [uris.published_uri(server, "file:///a b?q=1#f") for server in "ab"]
    assert published == ["tooltray://a/file%3A%2F%2F%2Fa%20b%3Fq%3D1%23f", "tooltray://b/file%3A%2F%2F%2Fa%20b%3Fq%3D1%23f"]
    assert [list(uris.targets(each)) for each in published] == [[("a", "file:///a b?q=1#f")], [("b", "file:///a b?q=1#f")]]


def test_the_bare_uri_of_two_servers_may_mean_either() -> None:
    assert list(both("x://1").targets("x://1")) == [("a", "x://1"), ("b", "x://1")]


def test_a_published_uri_is_understood_after_the_clash_is_gone() -> None:
    uris = ResourceUris({"my server": ["x://1"], "b": []}, {})
    assert list(uris.targets("tooltray://my%20server/x%3A%2F%2F1")) == [("my server", "x://1")]
    assert list(uris.targets("tooltray://MY%20SERVER/x%3A%2F%2F1")) == [("my server", "x://1")]
    assert list(uris.targets("tooltray://b/never%20listed")) == [("b", "never listed")]
    assert list(uris.targets("tooltray://gone/x")) == []


def test_a_uri_that_another_server_lists_is_told_apart_from_that_one() -> None:
    uris = ResourceUris({"a": ["x://1"], "b": []}, {})
    assert uris.published_uri("b", "x://1") == "tooltray://b/x%3A%2F%2F1"
    assert uris.published_uri("b", "x://2") == "x://2"


def test_a_uri_that_nobody_lists_belongs_to_the_servers_whose_templates_match() -> None:
    uris = ResourceUris({"a": ["db://t/listed"]}, {"a": ["db://{t}"], "b": ["db://{t}/{row}", "db://t/{row}"], "c": ["db://{+all}"]})
    assert list(uris.targets("db://t/5")) == [("b", "db://t/5"), ("c", "db://t/5")]
    assert list(uris.targets("db://t/listed")) == [("a", "db://t/listed")]
    assert uris.published_uri("b", "db://t/5") == "db://t/5"
    assert uris.published_uri("c", "db://t/5") == "tooltray://c/db%3A%2F%2Ft%2F5"


def test_a_template_of_two_servers_can_be_filled_in_and_is_taken_back_with_what_was_filled_in() -> None:
    uris = both(templates=("db://{table}/rows{?q}",))
    published = uris.published_template("b", "db://{table}/rows{?q}")
    assert published == "tooltray://b/db%3A%2F%2F{table}%2Frows{?q}"
    filled_in = "tooltray://b/db%3A%2F%2Fmy%20table%2Frows?q=1"
    assert list(uris.targets(filled_in)) == [("b", "db://my%20table/rows?q=1")]
    assert uris.published_uri("b", "db://my%20table/rows?q=1") == filled_in
    assert uris.published_uri("b", "db://other") == "db://other"


def test_whose_a_template_is_can_be_told_from_its_text() -> None:
    uris = ResourceUris({}, {"a": ["x://{i}", "y://{i}"], "b": ["x://{i}"]})
    assert uris.published_template("a", "y://{i}") == "y://{i}"
    assert uris.template_target("y://{i}") == ("a", "y://{i}")
    assert uris.template_target("tooltray://b/x%3A%2F%2F{i}") == ("b", "x://{i}")
    assert uris.template_target("x://{i}") == ("a", "x://{i}")
    assert uris.template_target("z://{i}") is None


@pytest.mark.parametrize("template", ["{+everything}", "tooltray://{+x}"])
def test_a_template_that_takes_everything_takes_no_published_uri(template: str) -> None:
    uris = ResourceUris({"a": ["x://1"], "b": ["x://1"]}, {"c": [template]})
    assert list(uris.targets("tooltray://b/x%3A%2F%2F1")) == [("b", "x://1")]
    assert list(uris.targets("tooltray://b/x%3A%2F%2F2")) == [("b", "x://2")]


lists = st.dictionaries(st.text(min_size=1, max_size=4), st.lists(st.text(max_size=6), unique=True, max_size=4), max_size=4)


@given(lists)
def test_every_listed_uri_has_a_published_one_of_its_own_that_leads_back(listed: dict[str, list[str]]) -> None:
    uris = ResourceUris(listed, {})
    pairs = [(server, uri) for server, own in listed.items() for uri in own]
    published = [uris.published_uri(*pair) for pair in pairs]
    assert len(set(published)) == len(pairs)
    assert [next(uris.targets(each)) for each in published] == pairs
    assert all(urlsplit(each).scheme == "tooltray" for each, (_, uri) in zip(published, pairs, strict=True) if each != uri)
