"""What a tool's definition says of MCP Apps (2026-01-26): the view that shows its results, and who the tool is for.

Above it: the definitions of tools, and who publishes them. Below it: protocol. Servers write anything here: what is not of the type that
the specification asks for counts as not written. Both spellings of a view's URI are read, the present one and the flat one before it.
"""

from collections.abc import Callable

import msgspec
from msgspec import Raw

from tooltray.catalogue.resource_uris import VIEW_PREFIX
from tooltray.protocol.envelope import NOTHING, dump, load
from tooltray.protocol.member_scanner import closed, opened

UI, URI, FLAT_URI = "ui", "resourceUri", "ui/resourceUri"
MODEL, APP = "model", "app"
HINT = b'"ui'  # begins both members; a `_meta` without it is not looked into


class ToolView(msgspec.Struct, frozen=True):
    """
    Attributes:
        uris: of its view, as the server wrote them; two where both spellings are there and differ, none without a view.
        is_for_models: models may see and call it.
        is_for_apps: views of its server may call it.
    """

    uris: tuple[str, ...] = ()
    is_for_models: bool = True
    is_for_apps: bool = True


NO_VIEW = ToolView()


def read_view(meta: Raw) -> ToolView:
    """What the `_meta` of a definition says; `NO_VIEW` where that is nothing."""
    if HINT not in bytes(meta):
        return NO_VIEW
    members = _opened(meta)
    ui = _opened(members.get(UI, NOTHING))
    named = (_value(ui.get(URI, NOTHING)), _value(members.get(FLAT_URI, NOTHING)))
    uris = tuple(dict.fromkeys(uri for uri in named if isinstance(uri, str) and uri.startswith(VIEW_PREFIX)))
    visibility = _value(ui.get("visibility", NOTHING))
    if not isinstance(visibility, list):
        return ToolView(uris) if uris else NO_VIEW
    return ToolView(uris, MODEL in visibility, APP in visibility)


def with_uris(definition: Raw, publish: Callable[[str], str]) -> Raw:
    """A definition that names its view by the URI that AI clients know; all else stays as it is, byte for byte.

    Args:
        definition: one whose `read_view` has URIs.
        publish: gives the URI for one of the server's own.
    """
    members = opened(definition)
    meta = opened(members["_meta"])
    if UI in meta and (ui := _opened(meta[UI])):
        meta[UI] = closed({name: _published(value, publish) if name == URI else value for name, value in ui.items()})
    if FLAT_URI in meta:
        meta[FLAT_URI] = _published(meta[FLAT_URI], publish)
    return closed({**members, "_meta": closed(meta)})


def _published(value: Raw, publish: Callable[[str], str]) -> Raw:
    uri = _value(value)
    return dump(publish(uri)) if isinstance(uri, str) and uri.startswith(VIEW_PREFIX) else value


def _opened(raw: Raw) -> dict[str, Raw]:
    try:
        return opened(raw)
    except (ValueError, RecursionError):
        return {}


def _value(raw: Raw) -> object:
    try:
        return load(raw)
    except (ValueError, RecursionError):
        return None
