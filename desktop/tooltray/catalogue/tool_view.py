"""What a tool's definition declares for MCP Apps (2026-01-26): the view that shows its results, and who may call the tool. Servers write
anything here: a value of another type than the specification asks for counts as missing. Both spellings of a view's URI are read, the
present one and the older flat one.
"""

from collections.abc import Callable

import msgspec
from msgspec import Raw

from tooltray.catalogue.resource_uris import VIEW_PREFIX
from tooltray.protocol.envelope import NOTHING, dump, load
from tooltray.protocol.member_scanner import closed, opened

UI, URI, FLAT_URI = "ui", "resourceUri", "ui/resourceUri"
MODEL, APP = "model", "app"
HINT = b'"ui'  # begins both members; a `_meta` without it is not parsed


class ToolView(msgspec.Struct, frozen=True):
    """The view of a tool, and who may call the tool.

    Attributes:
        uris: of its view, as the server wrote them; two if both spellings occur and differ, empty without a view.
        is_for_models: models may see and call the tool.
        is_for_apps: views of its server may call the tool.
    """

    uris: tuple[str, ...] = ()
    is_for_models: bool = True
    is_for_apps: bool = True


NO_VIEW = ToolView()


def read_view(meta: Raw) -> ToolView:
    """Reads the `_meta` of a definition; returns `NO_VIEW` if it declares nothing."""
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
    """Returns a definition that names its view by the URI that AI clients know; all else stays the same, byte for byte.

    Args:
        definition: one whose `read_view` has URIs.
        publish: gives the published URI for one of the server's own.
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
