"""offer.py"""

import json
from typing import Any

import pytest
from msgspec import Raw

from tooltray.catalogue.offer import LEFT_OUT, MAX_REMARKS, MENDED, PROMPTS, RESOURCES, TEMPLATES, OfferKind, listing_of, read_offers
from tooltray.catalogue.skill import EXTENSION, SKILLS


def raws(*definitions: Any) -> list[Raw]:
    return [Raw(each if isinstance(each, bytes) else json.dumps(each).encode()) for each in definitions]


def test_definitions_stay_as_they_were_written() -> None:
    odd = b'{ "uri":"x://1", "name":"n", "size":12345678901234567890, "vendor" : {"big":1180591620717411303424} }'
    [offer], remarks = read_offers(RESOURCES, raws(odd))
    assert (offer.key, bytes(offer.raw), bytes(offer.published)) == ("x://1", odd, odd)
    assert bytes(offer.renamed(RESOURCES, "x://1")) == odd
    assert (remarks, offer.flaw) == ([], "")


@pytest.mark.parametrize(
    ("kind", "capabilities", "declared"),
    [
        (PROMPTS, {"prompts": {}}, {}),
        (PROMPTS, {"prompts": True}, True),
        (PROMPTS, {"prompts": False}, None),
        (PROMPTS, {"extensions": {"prompts": {}}}, None),
        (SKILLS, {"extensions": {EXTENSION: {}}}, {}),
        (SKILLS, {"extensions": [EXTENSION]}, None),
        (SKILLS, {EXTENSION: {}}, None),
    ],
)
def test_a_list_is_declared_where_its_kind_is(kind: OfferKind, capabilities: dict[str, object], declared: object) -> None:
    assert kind.declared(capabilities) == declared


def test_another_name_changes_nothing_else() -> None:
    [offer], _ = read_offers(PROMPTS, raws(b'{"name":"p","arguments":[ {"name":"a","x":0.1000000000000000055} ],"name2":1}'))
    assert bytes(offer.renamed(PROMPTS, "s_p")) == b'{"name":"s_p","arguments":[ {"name":"a","x":0.1000000000000000055} ],"name2":1}'
    [template], _ = read_offers(TEMPLATES, raws({"uriTemplate": "x://{a}", "name": "t"}))
    assert json.loads(bytes(template.renamed(TEMPLATES, "y://{a}"))) == {"uriTemplate": "y://{a}", "name": "t"}


def test_what_cannot_be_told_apart_is_left_out_and_told() -> None:
    offers, remarks = read_offers(PROMPTS, raws({"name": "a"}, {"title": "t"}, {"name": 5}, [], {"name": "a", "x": 1}, {"name": "b"}))
    assert [offer.key for offer in offers] == ["a", "b"]
    assert remarks == [
        "prompts: number 2 of the list is left out: it has no name that is a string",
        "prompts: number 3 of the list is left out: it has no name that is a string",
        "prompts: number 4 of the list is left out: it has no name that is a string",
        "prompts: number 5 of the list is left out: 'a' is already in the list",
    ]


def test_a_list_full_of_nonsense_fills_no_log() -> None:
    offers, remarks = read_offers(PROMPTS, raws(*([{}] * 5000)))
    assert offers == ()
    assert len(remarks) == MAX_REMARKS + 1
    assert remarks[-1] == "prompts: and 4980 more remarks"


@pytest.mark.parametrize(
    ("written", "published"),
    [
        ({"uri": "x://1"}, {"uri": "x://1", "name": "x://1"}),
        ({"uri": "x://1", "name": None}, {"uri": "x://1", "name": "x://1"}),
        ({"uri": "x://1", "name": "n", "description": None}, {"uri": "x://1", "name": "n"}),
        ({"uri": "x://1", "name": "n", "icons": {}, "annotations": []}, {"uri": "x://1", "name": "n"}),
        ({"uri": "x://1", "name": "n", "size": None}, {"uri": "x://1", "name": "n"}),
        ({"uri": "x://1", "name": "n", "size": "12"}, {"uri": "x://1", "name": "n", "size": 12}),
        ({"uri": "x://1", "name": "n", "size": 12.0}, {"uri": "x://1", "name": "n", "size": 12}),
        ({"uri": "x://1", "name": "n", "size": 12.5}, {"uri": "x://1", "name": "n"}),
        ({"uri": "x://1", "name": "n", "size": 10**400}, {"uri": "x://1", "name": "n"}),
        (
            {"uri": "x://1", "name": "n", "annotations": {"priority": 2, "audience": "user", "lastModified": "2025-01-12"}},
            {"uri": "x://1", "name": "n", "annotations": {"audience": ["user"], "lastModified": "2025-01-12T00:00:00Z"}},
        ),
        (
            {"uri": "x://1", "name": "n", "annotations": {"audience": ["user", "robot"], "lastModified": "yesterday"}},
            {"uri": "x://1", "name": "n", "annotations": {"audience": ["user"]}},
        ),
    ],
)
def test_one_odd_definition_does_not_spoil_the_list_it_is_in(written: Any, published: Any) -> None:
    [offer], _ = read_offers(RESOURCES, raws(written))
    assert json.loads(bytes(offer.published)) == published
    assert (json.loads(bytes(offer.raw)), offer.flaw) == (written, MENDED)


def test_half_a_character_is_no_harm() -> None:
    written = b'{"name":"a\\ud800","description":"\\ud83d"}'
    [offer], _ = read_offers(PROMPTS, raws(written))
    assert (offer.key, bytes(offer.raw)) == ("a\ud800", written)
    assert bytes(offer.renamed(PROMPTS, "b")) == b'{"name":"b","description":"\\ufffd"}'


@pytest.mark.parametrize("uri", ["x", "/a/b", "http://", "http://a b/", "x://h:99999/", "x://\ud800"])
def test_a_resource_without_a_uri_is_held_back_alone_and_can_be_read_by_heart(uri: str) -> None:
    offers, remarks = read_offers(RESOURCES, raws({"uri": uri, "name": "a"}, {"uri": "x://1", "name": "b"}))
    assert [(each.key, each.is_held, each.flaw) for each in offers] == [(uri, True, LEFT_OUT), ("x://1", False, "")]
    assert len(remarks) == 1 + ("\ud800" in uri)
    assert "it is left out of the lists of all servers: its uri " in remarks[0]


@pytest.mark.parametrize(
    "uri", ["x:", "x:a", "urn:a:b", "file:///a b", "https://a.example/b", "http://127.0.0.1:80/a", "X-a+b.c://", "note://café"]
)
def test_any_scheme_makes_a_uri(uri: str) -> None:
    [offer], remarks = read_offers(RESOURCES, raws({"uri": uri, "name": "a"}))
    assert (offer.is_held, offer.flaw, remarks) == (False, "", [])


def test_a_template_that_is_no_text_is_held_back() -> None:
    [offer], [held, mended] = read_offers(TEMPLATES, raws({"uriTemplate": "x://\ud800", "name": "a"}))
    assert offer.is_held
    assert "its uriTemplate has half of a surrogate pair in it" in held
    assert "U+FFFD is used" in mended


def test_arguments_of_prompts_are_mended_one_by_one() -> None:
    arguments = [{"name": "a", "required": None, "description": None}, {"description": "b"}, "c", {"name": "d"}]
    [offer], remarks = read_offers(PROMPTS, raws({"name": "p", "arguments": arguments}))
    assert json.loads(bytes(offer.published))["arguments"] == [{"name": "a"}, {"name": "d"}]
    assert remarks == [
        "prompts: 'p': arguments[0].description is null, not a string (left out)",
        "prompts: 'p': arguments[0].required is null, not true or false (left out)",
        "prompts: 'p': arguments[1] has no name that is a string (left out)",
        "prompts: 'p': arguments[2] is a string, not an object (left out)",
    ]


def test_a_listing_is_one_page() -> None:
    assert bytes(listing_of(TEMPLATES, raws(b"{}", b'{"a":1}'))) == b'{"resourceTemplates":[{},{"a":1}]}'
    assert bytes(listing_of(PROMPTS, [])) == b'{"prompts":[]}'
