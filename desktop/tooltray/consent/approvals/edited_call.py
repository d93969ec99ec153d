"""Calls whose arguments the user changes before allowing them: which ones can be changed, the changed call, and what its client learns."""

import asyncio
import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.definition import canonical, read_once_named
from tooltray.consent.approvals.asked_call import READ_BELOW_BYTES, AskedCall
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.errors import Conflict, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.schema_check import schema_errors
from tooltray.foundation.snapshots.approvals import ApprovalForm
from tooltray.protocol.envelope import NOTHING, Envelope, dump, load
from tooltray.protocol.member_scanner import closed, opened

META_KEY = "tooltray/changedArguments"  # of a result's `_meta`: the arguments with which the call ran
LONGEST_FAULT = 200  # characters
LONGEST_NOTE = 20_000  # characters; all of the arguments are in `_meta`
LONGEST_VALUE = 400  # characters of a value in a note; of a longer text only the lines that differ are listed
INTRODUCTION = "The user changed the arguments before the call ran (use the changed ones if you call again):"


class Edited(Envelope, kw_only=True):
    """The reply that means that a call runs with arguments of the user.

    Attributes:
        call: the call as it runs.
    """

    call: AskedCall


def form_of(call: AskedCall) -> ApprovalForm:
    """Returns what a form needs to edit a call's arguments.

    Raises:
        Conflict: they cannot be shown and sent exactly as they are.
    """
    arguments = _read(call.arguments)
    if arguments is None:
        reason = Phrase("they are very large, or contain something that cannot be shown exactly")
        raise Conflict(Phrase("The arguments of this call cannot be changed"), reason, Phrase("Allow it as it is, or decline it."))
    return ApprovalForm(schema_of(call), arguments)


def is_editable(call: AskedCall) -> bool:
    """Returns whether a call's arguments can be shown and sent exactly as they are."""
    return _read(call.arguments) is not None


def schema_of(call: AskedCall) -> dict[str, Any]:
    """Returns the tool's schema of its arguments."""
    schema = load(opened(call.route.definition.raw).get("inputSchema", Raw(b"{}")))
    return schema if isinstance(schema, dict) else {}


async def edited(call: AskedCall, arguments: Mapping[str, object]) -> AskedCall:
    """Returns a call with other arguments; the same call if they are equal. Arguments that the user left alone stay the same bytes.

    Raises:
        TooltrayError: the call's arguments cannot be changed, or the new ones do not fit the tool's schema.
    """
    form_of(call)
    before = opened(call.arguments or Raw(b"{}"))
    try:
        now = {name: before[name] if name in before and _same(before[name], value) else dump(value) for name, value in arguments.items()}
        raw = closed(now)
    except (ValueError, RecursionError):
        raise TooltrayError(Phrase("These arguments cannot be sent"), Phrase("they are nested too deeply")) from None
    if now == before:
        return call
    if len(memoryview(raw)) >= READ_BELOW_BYTES:
        raise TooltrayError(Phrase("These arguments cannot be sent"), Phrase("they are too large to be shown in full"))
    if fault := await asyncio.to_thread(_fault, schema_of(call), raw):
        raise TooltrayError(Phrase("These arguments do not fit the tool"), fault)
    return call.with_arguments(raw)


def changed_names(call: AskedCall) -> list[str]:
    """Returns the names of the arguments that the user has changed."""
    before, now = _sides(call)
    return [name for name in dict.fromkeys((*before, *now)) if not _equal(before, now, name)]


def note_of(call: AskedCall) -> str:
    """Returns what the user has changed, for the model that made the call: for each argument the value before and now."""
    before, now = _sides(call)
    note = "\n".join([INTRODUCTION, *(line for name in changed_names(call) for line in _change(name, before, now))])
    return note if len(note) <= LONGEST_NOTE else f"{note[:LONGEST_NOTE]}…\n(cut; all arguments are in _meta of this result)"


def with_note(call: AskedCall, reply: Envelope) -> Envelope:
    """Returns the reply to a changed call that also says what was changed: in the first content and `_meta` of a result, or in an error's
    message.
    """
    note = note_of(call)
    if reply.error:
        error = _members(reply.error)
        return replace(reply, error=closed(error | {"message": dump(f"{load(error.get('message', NOTHING)) or ''}\n{note}".lstrip())}))
    members = _members(reply.result)
    meta = _members(members.get("_meta", NOTHING)) | {META_KEY: call.arguments}
    content = bytes(members.get("content", NOTHING)).strip()
    if content.startswith(b"["):
        block, rest = bytes(dump({"type": "text", "text": note})), content[1:].lstrip()
        members["content"] = Raw(b"[%b%b%b" % (block, b"" if rest.startswith(b"]") else b",", rest))
    return replace(reply, result=closed(members | {"_meta": closed(meta)}))


def _members(raw: Raw) -> dict[str, Raw]:
    """Returns the members of an object; none of anything else, which a server may write to hide what was changed."""
    try:
        return opened(raw)
    except (ValueError, RecursionError):
        return {}


def _read(arguments: Raw) -> dict[str, Any] | None:
    """Returns arguments that a form can show, and of which it gives back the same JSON; else None."""
    raw = bytes(arguments) or b"{}"
    if len(raw) >= READ_BELOW_BYTES:
        return None
    try:
        value = read_once_named(raw)
        text = json.dumps(value, ensure_ascii=False)
        is_exact = canonical(bytes(dump(value))) == canonical(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and is_exact and visible(text) == text else None


def _fault(schema: Mapping[str, object], arguments: Raw) -> str:
    """Returns the first error in arguments; empty without one."""
    for error in schema_errors(schema, json.loads(bytes(arguments))):
        place, message = ".".join(map(str, error.absolute_path)), visible(error.message[:LONGEST_FAULT])
        return Phrase("{place}: {reason}", place=visible(place), reason=message) if place else message
    return ""


def _sides(call: AskedCall) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the arguments of the client and of the user; both empty if nothing was changed."""
    return ({}, {}) if call.asked is None else (json.loads(bytes(call.asked) or b"{}"), json.loads(bytes(call.arguments)))


def _same(raw: Raw, value: object) -> bool:
    return canonical(bytes(raw)) == canonical(bytes(dump(value)))


def _equal(before: Mapping[str, object], now: Mapping[str, object], name: str) -> bool:
    return name in before and name in now and _same(dump(before[name]), now[name])


def _change(name: str, before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    if name not in now:
        yield f"- {name}: removed"
        return
    was, is_now = before.get(name), now[name]
    if isinstance(was, str) and isinstance(is_now, str) and max(len(was), len(is_now)) > LONGEST_VALUE:
        yield f"- {name}:"
        yield from list(difflib.unified_diff(was.splitlines(), is_now.splitlines(), lineterm="", n=1))[2:]
    elif name in before:
        yield f"- {name}: {_json(was)} → {_json(is_now)}"
    else:
        yield f"- {name}: {_json(is_now)} (added)"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
