"""catalogue/fingerprints.py"""

import json

import pytest

from tooltray.catalogue.definition import ToolDefinition, read_definition
from tooltray.catalogue.fingerprints import COVERED, TwiceNamed, canonical, definition_text, fingerprint

USUAL = {"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}}}


def definition(**changes: object) -> ToolDefinition:
    return read_definition(json.dumps(USUAL | changes).encode())


def test_order_and_white_space_do_not_count_and_what_nobody_reads_does_not_either() -> None:
    other = b'{ "inputSchema": {"properties": {"b": {}, "a": {}}, "type": "object"}, "_meta": {"x": 1}, "description": "d", "name": "t" }'
    assert fingerprint(definition()) == fingerprint(read_definition(other)) == fingerprint(definition(icons=[]))


@pytest.mark.parametrize("member", COVERED)
def test_every_member_that_is_read_counts(member: str) -> None:
    assert fingerprint(definition()) != fingerprint(definition(**{member: "other"}))


def test_a_hidden_character_and_a_number_count() -> None:
    assert fingerprint(definition()) != fingerprint(definition(description="d\u200b"))
    assert fingerprint(definition(annotations={"n": 2**70})) != fingerprint(definition(annotations={"n": 2**70 + 1}))


def test_every_byte_counts_of_what_names_a_member_twice_or_is_too_deep() -> None:
    first, second = b'{"name":"t","description":"a","description":"d"}', b'{"name":"t","description":"b","description":"d"}'
    assert fingerprint(read_definition(first)) != fingerprint(read_definition(second))
    deep = b'{"name":"t","inputSchema":' + b'{"a":' * 50_000 + b"%d" + b"}" * 50_000 + b"}"
    one, other = (ToolDefinition("t", "", None, raw) for raw in (deep % 1, deep % 2))  # type: ignore[arg-type]
    assert fingerprint(one) != fingerprint(other)
    assert definition_text(one).endswith("}")


def test_halves_of_characters_have_a_fingerprint() -> None:
    assert fingerprint(read_definition(b'{"name":"t","description":"\\ud800"}')) != fingerprint(definition())


def test_json_has_one_way_in_which_it_counts() -> None:
    assert canonical(b'{"b": 1, "a": [1.50, "\xc3\xbc"]}') == '{"a":[1.5,"ü"],"b":1}'
    with pytest.raises(TwiceNamed):
        canonical(b'{"a":1,"a":1}')
    with pytest.raises(ValueError, match="nested too deeply"):
        canonical(b"[" * 100_000)
