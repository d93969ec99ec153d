"""A tool's definition as its server wrote it: read where the hub has to know something, otherwise carried as bytes.

Above it: ToolManager, and the approvals, for which a fingerprint says what a tool is at the moment. Below it: protocol/member_scanner.
Knows nothing of servers and of how names are made. Only the outermost object is opened, so a schema stays verbatim however deep it is.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Raw

from tooltray.catalogue.tool_view import NO_VIEW, ToolView, read_view
from tooltray.errors import TooltrayError
from tooltray.protocol import member_scanner
from tooltray.protocol.envelope import dump
from tooltray.protocol.routing_headers import InvalidAnnotation, marked_arguments

MAX_REMARKS = 20  # about one list; a server with 5,000 odd tools needs no 5,000 lines to say so

_FIRST_BYTES = {
    "title": (b'"', "string"),
    "description": (b'"', "string"),
    "inputSchema": (b"{", "object"),
    "outputSchema": (b"{", "object"),
    "annotations": (b"{", "object"),
    "icons": (b"[", "array"),
    "_meta": (b"{", "object"),
}
"""How the value of each member of a definition begins, by the specification of 2025-11-25."""
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")

_members = msgspec.json.Decoder(dict[str, Raw])
COVERED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
REMEMBERED = 1024  # definitions that were looked at last; those of tools that need no approval never are

NOTHING_REPLACED: Mapping[str, Raw] = {}


class ToolDefinition(msgspec.Struct, frozen=True):
    """One tool.

    Attributes:
        name: the server's own name for it.
        description: empty if there is none, or none that is text.
        annotations: as Python values, of whatever type the server sent; None if there are none.
        raw: the whole definition, verbatim.
        flaws: what the specification does not allow in it, in words. Clients that check what they get would refuse the whole list because
            of one such tool.
        is_task_only: it can be called as a task alone (`execution.taskSupport` is "required", 2025-11-25). Whether a client knows
            tasks it does not say; formats of model providers have none.
        view: what shows its results, and who it is for (MCP Apps).
    """

    name: str
    description: str
    annotations: object
    raw: Raw
    flaws: tuple[str, ...] = ()
    is_task_only: bool = False
    view: ToolView = NO_VIEW

    def renamed(self, name: str, replaced: Mapping[str, Raw] = NOTHING_REPLACED) -> Raw:
        """The definition under another name, all other members verbatim and in their order; flaws are mended.

        Args:
            name: as AI clients will see it; in plain characters, see names.
            replaced: members in the place of the server's own.
        """
        members = {**_split(self.raw), "name": Raw(msgspec.json.encode(name))}
        return _joined({**(_mended(members, self.annotations) if self.flaws else members), **replaced})

    @property
    def publishable(self) -> Raw:
        """The definition under its own name; verbatim unless it has flaws."""
        return self.renamed(self.name) if self.flaws else self.raw


class ToolList(msgspec.Struct, frozen=True):
    """What can be used of a server's list.

    Attributes:
        tools: in the server's order, each name once.
        remarks: what was left out and why, and what is odd, one sentence each; at most MAX_REMARKS and one that counts the rest.
    """

    tools: tuple[ToolDefinition, ...]
    remarks: tuple[str, ...]


def unlisted(name: str) -> ToolDefinition:
    """Stands for a tool that its server does not list. Nothing says that it only reads, whatever its name is."""
    description, annotations = "The server does not list this tool.", {"readOnlyHint": False}
    raw = dump({"name": name, "description": description, "inputSchema": {"type": "object"}, "annotations": annotations})
    return ToolDefinition(name, description, annotations, raw)


def read_definition(raw: bytes) -> ToolDefinition:
    """Reads one definition.

    Args:
        raw: JSON; bytes or `Raw`.

    Raises:
        TooltrayError: it is no object, or it has no name that is a string.
    """
    raw = Raw(raw)
    try:
        members = _split(raw)
    except ValueError:
        raise TooltrayError("A tool cannot be used", "its definition is no JSON object") from None
    if "name" not in members:
        raise TooltrayError("A tool cannot be used", "its definition has no name")
    name = _value(members["name"])
    if not isinstance(name, str):
        raise TooltrayError("A tool cannot be used", "its name is no string")
    description, annotations = (_value(members.get(key, Raw(b"null"))) for key in ("description", "annotations"))
    flaws = tuple(_flaws(members, annotations))
    is_task_only = "execution" in members and _is_task_only(_value(members["execution"]))
    view = read_view(members["_meta"]) if "_meta" in members else NO_VIEW
    return ToolDefinition(name, description if isinstance(description, str) else "", annotations, raw, flaws, is_task_only, view)


def _is_task_only(execution: object) -> bool:
    return isinstance(execution, dict) and execution.get("taskSupport") == "required"


def read_definitions(raws: Iterable[bytes], *, needs_headers: bool = False) -> ToolList:
    """Reads a server's whole list: what cannot be used is left out, and of tools with one name the first is used.

    Args:
        needs_headers: calls of these tools repeat arguments in HTTP headers, as 2026-07-28 has it; then a tool that marks them wrongly must
            not be used.
    """
    tools: dict[str, ToolDefinition] = {}
    remarks: list[str] = []
    for place, raw in enumerate(raws, 1):
        try:
            tool = read_definition(raw)
        except TooltrayError as error:
            remarks.append(f"tool {place} of the list is left out: {error.problem.message}")
            continue
        if tool.name in tools:
            remarks.append(f"tool {place} of the list is left out: the name {tool.name!r} stands in it before")
            continue
        if needs_headers and (fault := _header_fault(tool)):
            remarks.append(f"tool {tool.name!r} is left out: {fault}")
            continue
        tools[tool.name] = tool
        remarks += (f"tool {tool.name!r}: {flaw}" for flaw in tool.flaws)
    if len(remarks) > MAX_REMARKS:
        remarks[MAX_REMARKS:] = [f"and {len(remarks) - MAX_REMARKS} more such remarks"]
    return ToolList(tuple(tools.values()), tuple(remarks))


def _header_fault(tool: ToolDefinition) -> str:
    try:
        marked_arguments(_split(tool.raw).get("inputSchema", Raw(b"{}")))
    except InvalidAnnotation as fault:
        return str(fault)
    except ValueError:  # deeper than can be looked at; a call then repeats nothing
        return ""
    return ""


def _flaws(members: Mapping[str, Raw], annotations: object) -> Iterable[str]:
    if "inputSchema" not in members:
        yield "inputSchema is missing"
    for key, (_, kind) in _FIRST_BYTES.items():
        if key in members and not _begins_well(key, members[key]):
            yield f"{key} is no {kind}"
    if isinstance(annotations, dict):
        yield from (f"{hint} is no boolean" for hint in _HINTS if not isinstance(annotations.get(hint, True), bool))


def _mended(members: Mapping[str, Raw], annotations: object) -> dict[str, Raw]:
    """Without the members that no client could read, and with an input schema: the tool stays usable, and so does the list it is in."""
    kept = {key: value for key, value in members.items() if key not in _FIRST_BYTES or _begins_well(key, value)}
    kept.setdefault("inputSchema", Raw(b'{"type":"object"}'))
    if isinstance(annotations, dict):
        kept["annotations"] = Raw(msgspec.json.encode({k: v for k, v in annotations.items() if k not in _HINTS or isinstance(v, bool)}))
    return kept


def _begins_well(key: str, value: Raw) -> bool:
    return bytes(memoryview(value)[:1]) == _FIRST_BYTES[key][0]


def _split(raw: Raw) -> Mapping[str, Raw]:
    """The members of the outermost object; the last one where a name stands twice.

    Raises:
        ValueError: it is no JSON object.
    """
    try:
        return _members.decode(raw)
    except msgspec.ValidationError:
        raise  # JSON, but no object
    except (ValueError, RecursionError):  # half a surrogate pair in a string, or deeper than msgspec goes
        text = bytes(raw)
        with suppress(RecursionError):  # what is that deep was checked when its message was read
            json.loads(text, parse_constant=_refuse_constant)
        return {name: Raw(value) for name, value in member_scanner.members_of(text).items()}


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _joined(members: Mapping[str, Raw]) -> Raw:
    try:
        return Raw(msgspec.json.encode(members))
    except UnicodeEncodeError:  # a member's name is half a surrogate pair
        return Raw(b"{" + b",".join(json.dumps(name).encode() + b":" + bytes(value) for name, value in members.items()) + b"}")


def _value(raw: Raw) -> object:
    """A small member as Python values; None where it is no JSON that Python can hold."""
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(bytes(raw))
    except (ValueError, RecursionError):
        return None


class TwiceNamed(ValueError):
    """An object names a member twice: two readers may find two different values in it."""


def canonical(text: bytes) -> str:
    """JSON in the one way in which it counts.

    Raises:
        ValueError: it is no JSON, it is deeper than can be looked at, or a `TwiceNamed`.
    """
    try:
        return _written(read_once_named(text))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_once_named(text: bytes) -> Any:
    """JSON as Python values.

    Raises:
        ValueError: it is no JSON, or a `TwiceNamed`.
        RecursionError: it is deeper than can be looked at.
    """
    return json.loads(text, object_pairs_hook=_once_named, parse_constant=_refuse_constant)


def definition_text(definition: ToolDefinition) -> str:
    """What a fingerprint covers of a definition, in the one way in which it counts."""
    return _known(bytes(definition.raw))[0]


def fingerprint(definition: ToolDefinition) -> str:
    """What a tool is at the moment: what a person allowed counts for this and for nothing else.

    It covers what a model and a person read of a tool and what its calls look like; the order of members and white space do not count. The
    same after another start.
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
    except (ValueError, RecursionError):  # every byte counts of what cannot be looked into
        return raw.decode("utf-8", "replace")


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _once_named(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    listed = list(pairs)
    members = dict(listed)
    if len(members) < len(listed):
        raise TwiceNamed("a member is named twice")
    return members
