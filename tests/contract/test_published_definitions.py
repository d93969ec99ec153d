"""What leaves the hub of any server's lists is read by the SDKs of every client; see odd_definitions."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.odd_definitions import DEEP, LEGACY, MODERN, ODD_SCHEMAS, WHOLE, check_is_read, odd, published

from tooltray.catalogue.offer import PROMPTS, RESOURCES, TEMPLATES, TOOLS, OfferKind

KINDS = {kind.name: kind for kind in (TOOLS, PROMPTS, RESOURCES, TEMPLATES)}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_definition_with_all_members_stays_as_it_is(kind: OfferKind) -> None:
    for version in (LEGACY, MODERN):
        [raw] = published(kind, [WHOLE[kind]], is_modern_server=False, version=version)
        assert json.loads(bytes(raw)) == {**WHOLE[kind], **({"name": "s_0"} if kind is TOOLS else {})}
        check_is_read(kind, [raw], version)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@settings(max_examples=150)
@given(data=st.data(), is_modern_server=st.booleans())
def test_whatever_a_server_lists_is_read_by_the_clients_of_both_eras(kind: OfferKind, data: st.DataObject, is_modern_server: bool) -> None:
    definition = data.draw(odd(kind))
    for version in (LEGACY, MODERN):
        check_is_read(kind, published(kind, [definition], is_modern_server=is_modern_server, version=version), version)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_one_that_is_too_deep_or_has_half_a_character_costs_no_other(kind: OfferKind, version: str) -> None:
    deep: Any = b'{"a":' * DEEP + b"1" + b"}" * DEEP
    whole = json.dumps(WHOLE[kind]).encode()
    odd_ones = [
        whole.replace(b'"_meta": ', b'"_meta": %b, "other": ' % deep).replace(b'"n"', b'"deep"'),
        whole.replace(b'"d"', rb'"\ud800"').replace(b'"n"', b'"half"'),
    ]
    key = kind.key.encode()
    named = [
        each.replace(b'"%b": "' % key, b'"%b": "y%d' % (key, place)) if kind.key != "name" else each for place, each in enumerate(odd_ones)
    ]
    left = published(kind, [*named, whole], is_modern_server=False, version=version)
    assert len(left) == len(odd_ones) + 1
    check_is_read(kind, left, version)


@pytest.mark.parametrize("schema", ODD_SCHEMAS, ids=json.dumps)
@pytest.mark.parametrize("is_modern_server", [False, True], ids=["of a legacy server", "of a modern server"])
def test_odd_schemas_cost_no_other_tool(schema: dict[str, Any], is_modern_server: bool) -> None:
    odd_ones = [{"name": "i", "inputSchema": schema}, {"name": "o", "inputSchema": {"type": "object"}, "outputSchema": schema}]
    for version in (LEGACY, MODERN):
        left = published(TOOLS, [*odd_ones, WHOLE[TOOLS]], is_modern_server=is_modern_server, version=version)
        assert len(left) == len(odd_ones) + 1
        check_is_read(TOOLS, left, version)
