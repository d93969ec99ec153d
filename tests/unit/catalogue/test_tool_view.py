"""tool_view.py"""

import json
from typing import Any

import pytest
from msgspec import Raw

from tooltray.catalogue.definition import NO_VIEW, ToolView, read_definition, read_view, with_uris
from tooltray.protocol.envelope import dump

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
    assert read_definition(dump({"name": "t", "_meta": meta})).view == view


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
    assert read_definition(b'{"name":"t","_meta":%b}' % meta).view is NO_VIEW


def test_a_definition_names_another_uri_and_is_the_same_in_all_else() -> None:
    kept = b'"x":1e400,"inputSchema":{"a" : [1]}'
    csp = b'"csp":{"connectDomains":[ "https://a" ]}'
    raw = b'{"name":"t",%b,"_meta":{"ui":{%b,"resourceUri":"ui://v"},"y":null,"ui/resourceUri":"ui://v"}}' % (kept, csp)
    moved = b'{"name":"t",%b,"_meta":{"ui":{%b,"resourceUri":"ui://a/ui://v"},"y":null,"ui/resourceUri":"ui://a/ui://v"}}' % (kept, csp)
    assert bytes(with_uris(Raw(raw), "ui://a/".__add__)) == moved


@pytest.mark.parametrize("ui", [5, None, {}, {"resourceUri": 5}, {"resourceUri": "file:///x"}])
def test_what_is_no_view_stays_in_a_definition_that_names_one_otherwise(ui: Any) -> None:
    moved = with_uris(dump({"name": "t", "_meta": {"ui": ui, "ui/resourceUri": "ui://v"}}), "ui://a/".__add__)
    assert json.loads(bytes(moved))["_meta"] == {"ui": ui, "ui/resourceUri": "ui://a/ui://v"}
    moved = with_uris(dump({"name": "t", "_meta": {"ui": {"resourceUri": "ui://v"}, "ui/resourceUri": ui}}), "ui://a/".__add__)
    assert json.loads(bytes(moved))["_meta"] == {"ui": {"resourceUri": "ui://a/ui://v"}, "ui/resourceUri": ui}
