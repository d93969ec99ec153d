"""A tool's definition as its server wrote it: read where the hub needs a fact, otherwise carried as bytes. Only the outermost object is
opened, so a schema stays verbatim however deep it is. A fingerprint identifies what a tool is at the moment, for approvals.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from tooltray.catalogue.resource_uris import VIEW_PREFIX
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.servers import MENDED
from tooltray.protocol import definition_mending as mending
from tooltray.protocol import member_scanner, output_schemas
from tooltray.protocol.definition_mending import HINTS
from tooltray.protocol.definition_shapes import Tool, decoded
from tooltray.protocol.envelope import NOTHING, dump, load
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.output_schemas import LegacyOutput
from tooltray.protocol.routing_headers import InvalidAnnotation, marked_arguments

UI, URI, FLAT_URI = "ui", "resourceUri", "ui/resourceUri"
MODEL, APP = "model", "app"
VIEW_HINT = b'"ui'  # prefix of both members; a `_meta` without this prefix is not parsed


class ToolView(msgspec.Struct, frozen=True):
    """The view of a tool, and who may call the tool, as MCP Apps (2026-01-26) declare it. A value of a wrong type counts as missing.

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
    if VIEW_HINT not in bytes(meta):
        return NO_VIEW
    members = _opened(meta)
    ui = _opened(members.get(UI, NOTHING))
    named = (_read(ui.get(URI, NOTHING)), _read(members.get(FLAT_URI, NOTHING)))
    uris = tuple(dict.fromkeys(uri for uri in named if isinstance(uri, str) and uri.startswith(VIEW_PREFIX)))
    visibility = _read(ui.get("visibility", NOTHING))
    if not isinstance(visibility, list):
        return ToolView(uris) if uris else NO_VIEW
    return ToolView(uris, MODEL in visibility, APP in visibility)


def with_uris(definition: Raw, publish: Callable[[str], str]) -> Raw:
    """Returns a definition that names its view by the URI that AI clients know; everything else stays the same, byte for byte.

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
    uri = _read(value)
    return dump(publish(uri)) if isinstance(uri, str) and uri.startswith(VIEW_PREFIX) else value


def _opened(raw: Raw) -> dict[str, Raw]:
    try:
        return opened(raw)
    except (ValueError, RecursionError):
        return {}


def _read(raw: Raw) -> object:
    try:
        return load(raw)
    except (ValueError, RecursionError):
        return None


MAX_REMARKS = 20  # about one list; 5,000 lines about 5,000 unusual tools would not help

_members = msgspec.json.Decoder(dict[str, Raw])
_tool = msgspec.json.Decoder(Tool)
COVERED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
REMEMBERED = 1024  # most recent definitions; only tools with approval need a fingerprint

NOTHING_REPLACED: Mapping[str, Raw] = {}


class ToolDefinition(msgspec.Struct, frozen=True):
    """The definition of one tool.

    Attributes:
        name: the server's own name for the tool.
        description: empty if it is missing or not a text.
        annotations: as Python values, of whatever type the server sent; None if they are missing.
        raw: the whole definition, verbatim.
        flaws: why clients that check a list refuse the whole list, a sentence for each flaw; see `definition_mending`.
        mended: the definition as such clients can read it; None if they can read the server's own.
        output: the replacement for its `outputSchema` for legacy clients; None if they get the server's own.
        is_task_only: the tool can only be called as a task (`execution.taskSupport` is "required", 2025-11-25). Clients need not support
            tasks to see such a tool; formats of model providers have no tasks.
        view: the UI that shows the tool's results, and who may call the tool (MCP Apps).
    """

    name: str
    description: str
    annotations: object
    raw: Raw
    flaws: tuple[str, ...] = ()
    is_task_only: bool = False
    view: ToolView = NO_VIEW
    mended: Raw | None = None
    output: LegacyOutput | None = None

    @property
    def flaw(self) -> str:
        """MENDED, or empty."""
        return MENDED if self.flaws else ""

    def renamed(self, name: str, replaced: Mapping[str, Raw] = NOTHING_REPLACED) -> Raw:
        """Returns the definition under another name, as all clients can read it, all other members verbatim and in their order.

        Args:
            name: as AI clients will see it; in plain characters, see names.
            replaced: members that replace the server's own.
        """
        return dump({**_split(self.mended or self.raw), "name": dump(name), **replaced})


class ToolList(msgspec.Struct, frozen=True):
    """The usable part of a server's list.

    Attributes:
        tools: in the server's order, each name once.
        remarks: sentences about left-out and unusual definitions; at most MAX_REMARKS, and one that counts the rest.
    """

    tools: tuple[ToolDefinition, ...]
    remarks: tuple[str, ...]


def unlisted(name: str) -> ToolDefinition:
    """Returns a stand-in for a tool that its server does not list. The stand-in counts as writing, whatever its name is."""
    description, annotations = "The server does not list this tool.", {"readOnlyHint": False}
    raw = dump({"name": name, "description": description, "inputSchema": {"type": "object"}, "annotations": annotations})
    return ToolDefinition(name, description, annotations, raw)


def read_definition(raw: bytes, *, is_modern: bool = False) -> ToolDefinition:
    """Reads one definition.

    Args:
        raw: JSON; bytes or `Raw`.
        is_modern: the server speaks 2026-07-28, which allows more in schemas than legacy clients can read.

    Raises:
        TooltrayError: the definition is not an object, or has no name that is a string.
    """
    raw = Raw(raw)
    return _read_good(raw) or _read_any(raw, is_modern=is_modern)


def _read_good(raw: Raw) -> ToolDefinition | None:
    """Reads a definition that every client can read as it is, in one pass; None if it has to be checked in detail."""
    tool = decoded(_tool, raw)
    if tool is None or not mending.is_text_for_all(text := bytes(raw)):
        return None
    if tool.output_schema is not UNSET and not output_schemas.is_plain(text) and output_schemas.schema_fault(_split(raw)["outputSchema"]):
        return None
    annotations = _value(tool.annotations) if tool.annotations is not UNSET else None
    if tool.annotations is not UNSET and not _are_annotations(annotations):
        return None
    description = "" if tool.description is UNSET else tool.description
    is_task_only = tool.execution is not UNSET and tool.execution.task_support == "required"
    view = read_view(_split(raw)["_meta"]) if tool.meta is not UNSET and VIEW_HINT in text else NO_VIEW
    return ToolDefinition(tool.name, description, annotations, raw, (), is_task_only, view)


def _are_annotations(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("title", ""), str):
        return False
    return all(isinstance(value.get(hint, True), bool) for hint in HINTS)


def _read_any(raw: Raw, *, is_modern: bool) -> ToolDefinition:
    try:
        members = _split(raw)
    except ValueError:
        raise TooltrayError("A tool cannot be used", "its definition is not a JSON object") from None
    if "name" not in members:
        raise TooltrayError("A tool cannot be used", "its definition has no name")
    name = _value(members["name"])
    if not isinstance(name, str):
        raise TooltrayError("A tool cannot be used", "its name is not a string")
    description, annotations = (_value(members.get(key, Raw(b"null"))) for key in ("description", "annotations"))
    mended = mending.mended(raw, mending.TOOL, {"inputSchema": mending.OBJECT_SCHEMA}, is_modern=is_modern)
    return ToolDefinition(
        name,
        description if isinstance(description, str) else "",
        annotations,
        raw,
        mended.flaws,
        is_task_only="execution" in members and _is_task_only(_value(members["execution"])),
        view=read_view(meta) if (meta := _split(mended.raw).get("_meta")) else NO_VIEW,
        mended=None if mended.raw is raw else mended.raw,
        output=mended.output,
    )


def _is_task_only(execution: object) -> bool:
    return isinstance(execution, dict) and execution.get("taskSupport") == "required"


def read_definitions(raws: Iterable[bytes], *, needs_headers: bool = False, is_modern: bool = False) -> ToolList:
    """Reads a server's whole list: unusable definitions are left out, and of tools with the same name the first is used.

    Args:
        needs_headers: calls of these tools repeat arguments in HTTP headers, as 2026-07-28 has it; then a tool that marks them wrongly must
            not be used.
        is_modern: as for `read_definition`.
    """
    tools: dict[str, ToolDefinition] = {}
    remarks: list[str] = []
    for place, raw in enumerate(raws, 1):
        try:
            tool = read_definition(raw, is_modern=is_modern)
        except TooltrayError as error:
            remarks.append(f"tool {place} of the list is left out: {error.problem.message}")
            continue
        if tool.name in tools:
            remarks.append(f"tool {place} of the list is left out: the name {tool.name!r} is already in the list")
            continue
        if needs_headers and (fault := _header_fault(tool)):
            remarks.append(f"tool {tool.name!r} is left out: {fault}")
            continue
        tools[tool.name] = tool
        remarks += (f"tool {tool.name!r}: {flaw}" for flaw in tool.flaws)
    if len(remarks) > MAX_REMARKS:
        remarks[MAX_REMARKS:] = [f"and {len(remarks) - MAX_REMARKS} more remarks"]
    return ToolList(tuple(tools.values()), tuple(remarks))


def _header_fault(tool: ToolDefinition) -> str:
    try:
        marked_arguments(_split(tool.raw).get("inputSchema", Raw(b"{}")))
    except InvalidAnnotation as fault:
        return str(fault)
    except ValueError:  # nested too deeply to read; a call then repeats nothing
        return ""
    return ""


def _split(raw: Raw) -> Mapping[str, Raw]:
    """Returns the members of the outermost object; if a name occurs twice, its last member.

    Raises:
        ValueError: the text is not a JSON object.
    """
    try:
        return _members.decode(raw)
    except msgspec.ValidationError:
        raise  # JSON, but not an object
    except (ValueError, RecursionError):  # half a surrogate pair in a string, or nested too deeply for msgspec
        text = bytes(raw)
        with suppress(RecursionError):  # so deep JSON was checked when its message was read
            json.loads(text, parse_constant=_refuse_constant)
        return {name: Raw(value) for name, value in member_scanner.members_of(text).items()}


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _value(raw: Raw) -> object:
    """Returns a small member as Python values; None if the member is not JSON that Python can hold."""
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(bytes(raw))
    except (ValueError, RecursionError):
        return None


class TwiceNamed(ValueError):
    """An error: an object has a member's name twice, so two readers may read different values."""


def canonical(text: bytes) -> str:
    """Returns JSON in its canonical form: sorted members, no white space.

    Raises:
        ValueError: the text is not JSON, is nested too deeply, or is a `TwiceNamed`.
    """
    try:
        return _written(read_once_named(text))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_once_named(text: bytes) -> Any:
    """Reads JSON as Python values.

    Raises:
        ValueError: the text is not JSON, or is a `TwiceNamed`.
        RecursionError: the text is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_once_named, parse_constant=_refuse_constant)


def definition_text(definition: ToolDefinition) -> str:
    """Returns the canonical text of a definition that its fingerprint covers."""
    return _known(bytes(definition.raw))[0]


def fingerprint(definition: ToolDefinition) -> str:
    """Returns the identity of a tool's present definition: an approval is valid only for this fingerprint.

    It covers the texts that models and users read about a tool, and the form of its calls, but not white space or the order of members. The
    fingerprint is the same after a restart.
    """
    return _known(bytes(definition.raw))[1]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(REMEMBERED)
def _known(raw: bytes) -> tuple[str, str]:
    text = _text(raw)
    return text, digest(text)


def _text(raw: bytes) -> str:
    try:
        members = read_once_named(raw)
        return _written({key: members[key] for key in COVERED if key in members})
    except (ValueError, RecursionError):  # of an unreadable definition every byte counts
        return raw.decode("utf-8", "replace")


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _once_named(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    listed = list(pairs)
    members = dict(listed)
    if len(members) < len(listed):
        raise TwiceNamed("a member is duplicated")
    return members
