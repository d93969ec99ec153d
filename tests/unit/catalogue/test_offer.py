"""catalogue/offer.py"""

import json
from typing import Any

import pytest
from msgspec import Raw

from tooltray.catalogue.offer import MAX_REMARKS, PROMPTS, RESOURCES, TEMPLATES, listing_of, read_offers


def raws(*definitions: Any) -> list[Raw]:
    return [Raw(each if isinstance(each, bytes) else json.dumps(each).encode()) for each in definitions]


def test_definitions_stay_as_they_were_written() -> None:
    odd = b'{ "uri":"x://1", "name":"n", "size":1e400, "vendor" : {"big":1180591620717411303424} }'
    [offer], remarks = read_offers(RESOURCES, raws(odd))
    assert (offer.key, bytes(offer.raw), bytes(offer.published)) == ("x://1", odd, odd)
    assert bytes(offer.renamed(RESOURCES, "x://1")) == odd
    assert remarks == []


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
        "prompts: number 5 of the list is left out: 'a' stands in it before",
    ]


def test_a_list_full_of_nonsense_fills_no_log() -> None:
    offers, remarks = read_offers(PROMPTS, raws(*([{}] * 5000)))
    assert offers == ()
    assert len(remarks) == MAX_REMARKS + 1
    assert remarks[-1] == "prompts: and 4980 more such remarks"


@pytest.mark.parametrize(
    ("written", "published"),
    [
        ({"uri": "x://1"}, {"uri": "x://1", "name": "x://1"}),
        ({"uri": "x://1", "name": None}, {"uri": "x://1", "name": "x://1"}),
        ({"uri": "x://1", "name": "n", "description": None}, {"uri": "x://1", "name": "n"}),
        ({"uri": "x://1", "name": "n", "icons": {}, "annotations": []}, {"uri": "x://1", "name": "n"}),
    ],
)
def test_one_odd_definition_does_not_spoil_the_list_it_is_in(written: Any, published: Any) -> None:
    [offer], _ = read_offers(RESOURCES, raws(written))
    assert json.loads(bytes(offer.published)) == published
    assert json.loads(bytes(offer.raw)) == written


def test_half_a_character_is_no_harm() -> None:
    written = b'{"name":"a\\ud800","description":"\\ud83d"}'
    [offer], _ = read_offers(PROMPTS, raws(written))
    assert (offer.key, bytes(offer.published)) == ("a\ud800", written)
    assert bytes(offer.renamed(PROMPTS, "b")) == b'{"name":"b","description":"\\ud83d"}'


def test_a_listing_is_one_page() -> None:
    assert bytes(listing_of(TEMPLATES, raws(b"{}", b'{"a":1}'))) == b'{"resourceTemplates":[{},{"a":1}]}'
    assert bytes(listing_of(PROMPTS, [])) == b'{"prompts":[]}'
