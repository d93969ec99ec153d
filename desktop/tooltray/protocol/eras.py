"""Payloads between the eras, without building their contents.

Only the first two levels of an object are opened, and only if they must change. `legacy`: initialize handshake, 2024-11-05 to
2025-11-25. `modern`: every request carries its envelope in `_meta`, 2026-07-28. Within an era nothing is changed. Across eras this is
added or dropped, and nothing else:

| where | what | legacy client, modern server | modern client, legacy server |
|---|---|---|---|
| request, `_meta` | protocolVersion, clientInfo, clientCapabilities | added | dropped |
| request, `_meta` | logLevel | the session's level added, if it set one | dropped; the server's level while the call lasts |
| request | inputResponses, requestState | added when the server has asked | dropped; they go on with the held call |
| request tools/call | task | dropped: a modern server decides | dropped: its client would not know the answer |
| result | resultType | dropped if "complete" | "complete" added |
| result of tools/call | structuredContent | `{"result": ...}` around it, where it or the tool's outputSchema is not an object | stays |
| result of lists, resources/read, server/discover | ttlMs, cacheScope | dropped | 0 and "private" added |
| error of resources/... | code of "resource not found" | -32602 with `data.uri` becomes -32002 | -32002 becomes -32602 |
| question elicitation/create, mode url | elicitationId | one of the hub's added | stays |
| notification, `_meta` | subscriptionId | dropped | the client's own added, by its session |

The keys of `_meta` begin with `io.modelcontextprotocol/`; all others in it stay, the progress token too. Other results and error codes
(-32042 among them) pass unchanged.

The versions, keys and codes are written down here, and not taken from the SDK, whose import costs 0.6-1 s at every start of a hub.
"""

import re
import secrets
from enum import Enum

import msgspec
from msgspec import Raw

from tooltray import __version__
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, dump, failure
from tooltray.protocol.member_scanner import closed, opened

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # oldest first; reached by `initialize`
BATCH_VERSION = "2025-03-26"  # the only one with batches
MODERN_VERSIONS = ("2026-07-28",)  # stateless: every request carries its envelope in `_meta`

META_PREFIX = "io.modelcontextprotocol/"
PROTOCOL_VERSION_KEY = META_PREFIX + "protocolVersion"
CLIENT_INFO_KEY = META_PREFIX + "clientInfo"
CLIENT_CAPABILITIES_KEY = META_PREFIX + "clientCapabilities"
LOG_LEVEL_KEY = META_PREFIX + "logLevel"
SERVER_INFO_KEY = META_PREFIX + "serverInfo"
SUBSCRIPTION_ID_KEY = META_PREFIX + "subscriptionId"
RELATED_TASK_KEY = META_PREFIX + "related-task"  # 2025-11-25
TASKS_EXTENSION = META_PREFIX + "tasks"  # of 2026-07-28, as clients and servers declare it

SERVER_INFO = {"name": "tooltray", "title": "Tooltray", "version": __version__}
_OWN_META = b'{"_meta":%b,' % bytes(dump({SERVER_INFO_KEY: SERVER_INFO}))

HEADER_MISMATCH = -32020
MISSING_CLIENT_CAPABILITY = -32021
UNSUPPORTED_PROTOCOL_VERSION = -32022

# what a server may ask of a client, and the capability that allows it
CAPABILITY_FOR = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


_ENVELOPE_KEYS = (PROTOCOL_VERSION_KEY, CLIENT_INFO_KEY, CLIENT_CAPABILITIES_KEY, LOG_LEVEL_KEY)
_CACHEABLE = {
    *("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover"),
    *("skills/list", "skills/get"),
}
_HEAD_KEYS = {"name", "requestState", "task"}
_META_KEYS = {"progressToken", PROTOCOL_VERSION_KEY, CLIENT_CAPABILITIES_KEY, LOG_LEVEL_KEY}
_COMPLETE, _URL_MODE = Raw(b'"complete"'), Raw(b'"url"')
_REST_OF_EMPTY_OBJECT = re.compile(rb"\s*+\}")

ROUND_KEYS = ("inputResponses", "requestState")  # of a request that is made again with answers
ELICITATION_ID_BYTES = 8  # two questions to one client must not have the same
LEGACY_RESOURCE_NOT_FOUND = -32002  # 2026-07-28 has the general code for it
NAME_LOOKED_FOR_BELOW_BYTES = 65536  # larger parameters are taken apart in any case, which costs them little besides their size


class Era(Enum):
    LEGACY = "legacy"
    MODERN = "modern"


class ClientInfo(msgspec.Struct):
    """The name and version that an AI client gives itself."""

    name: str = "AI client"
    version: str = ""


class Meta(msgspec.Struct):
    """The members of a request's `_meta` that the relay reads."""

    progress_token: Raw = msgspec.field(name="progressToken", default=NOTHING)
    version: Raw = msgspec.field(name=PROTOCOL_VERSION_KEY, default=NOTHING)
    capabilities: Raw = msgspec.field(name=CLIENT_CAPABILITIES_KEY, default=NOTHING)
    log_level: Raw = msgspec.field(name=LOG_LEVEL_KEY, default=NOTHING)


class Head(msgspec.Struct):
    """The members of a request's params that the relay reads."""

    meta: Meta = msgspec.field(name="_meta", default_factory=Meta)
    name: str = ""
    request_state: str = msgspec.field(name="requestState", default="")
    input_responses: dict[str, Raw] = msgspec.field(name="inputResponses", default_factory=dict)
    task: Raw = NOTHING  # in a legacy call that requests a task as its answer

    @property
    def era(self) -> Era:
        """Returns the era of the request: modern if its envelope names a version."""
        return Era.MODERN if self.meta.version else Era.LEGACY


class _MetaOfClient(msgspec.Struct):
    client: ClientInfo = msgspec.field(name=CLIENT_INFO_KEY, default_factory=ClientInfo)


class _ParamsOfClient(msgspec.Struct):
    meta: _MetaOfClient = msgspec.field(name="_meta", default_factory=_MetaOfClient)


_head_decoder = msgspec.json.Decoder(Head)
_modern_versions = {msgspec.json.encode(version) for version in MODERN_VERSIONS}


def read_head(params: Raw) -> Head | None:
    """Returns the head of params; None if params is not an object or these fields have other types."""
    try:
        return _head_decoder.decode(params) if params else Head()
    except msgspec.ValidationError:
        return None
    except (ValueError, RecursionError):  # half a surrogate pair somewhere, or great depth
        return _read_head_by_members(params)


def read_meta_alone(params: Raw) -> Head | None:
    """Returns a head with only `_meta`, for a request whose other members have a meaning that is not known here."""
    try:
        members = opened(params)
        return read_head(closed({"_meta": members["_meta"]} if "_meta" in members else {}))
    except ValueError:
        return None


def _read_head_by_members(params: Raw) -> Head | None:
    try:
        members = opened(params)
        meta = opened(members["_meta"]) if "_meta" in members else {}
        looked_at = {key: members[key] for key in _HEAD_KEYS & members.keys()}
        looked_at["_meta"] = closed({key: meta[key] for key in _META_KEYS & meta.keys()})
        head = _head_decoder.decode(closed(looked_at))
        if "inputResponses" in members:
            head.input_responses = opened(members["inputResponses"])
    except (ValueError, RecursionError):
        return None
    return head


def read_client_info(params: Raw) -> ClientInfo:
    """Returns the sender of a modern request, as far as the request names it."""
    try:
        return msgspec.json.decode(params, type=_ParamsOfClient).meta.client
    except (ValueError, RecursionError):
        return ClientInfo()


def is_version_spoken(head: Head) -> bool:
    """Returns whether a modern request names a version of ours."""
    return bytes(head.meta.version) in _modern_versions


def unsupported_version(requested: object) -> Envelope:
    """Returns the error for a version that is not spoken here."""
    data = {"supported": list(MODERN_VERSIONS), "requested": requested}
    return failure(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)


def without_envelope(params: Raw) -> Raw:
    """Returns params for a legacy server, without the modern envelope: some servers refuse requests that carry it."""
    members = opened(params)
    for key in ROUND_KEYS:
        members.pop(key, None)
    meta = opened(members["_meta"])
    for key in _ENVELOPE_KEYS:
        meta.pop(key, None)
    members["_meta"] = closed(meta)
    if not meta:
        del members["_meta"]
    return closed(members)


def without_task(params: Raw) -> Raw:
    """Returns params without `task`, for a server of the other era, which would not know it, or answer in a form that its client does not
    know.
    """
    return closed({name: value for name, value in opened(params).items() if name != "task"})


def with_meta(params: Raw, added: dict[str, Raw]) -> Raw:
    """Adds or replaces members of `_meta`."""
    members = opened(params) if params else {}
    meta = opened(members["_meta"]) if "_meta" in members else {}
    members["_meta"] = closed(meta | added)
    return closed(members)


def read_progress_token(params: Raw) -> Raw:
    """Returns the progress token. Raises ValueError if the message has none."""
    token = opened(params).get("progressToken", NOTHING)
    if not token:
        raise ValueError("no progress token")
    return token


def may_repeat_name(params: Raw) -> bool:
    """Returns whether an object may have two members `name`: the last one counts here, but maybe not for a server's parser.

    Some parsers take `Name` for `name`. The result may be True without need (an argument is called `name`), but is never False by mistake.
    """
    if len(memoryview(params)) >= NAME_LOOKED_FOR_BELOW_BYTES:
        return True
    text = bytes(params)
    return b"\\u00" in text or text.lower().count(b'"name"') != 1


def named_once(params: Raw, *names: str, **added: Raw) -> Raw:
    """Returns an object with each of its members once, and without members that a case-insensitive parser takes for one of `names`.

    Args:
        added: members that are added or replaced.
    """
    members, taken = opened(params) | added, set(map(str.casefold, names))
    return closed({name: value for name, value in members.items() if name in names or name.casefold() not in taken})


def with_members(params: Raw, **added: Raw) -> Raw:
    """Adds or replaces members of an object."""
    return closed(opened(params) | added)


def as_modern_result(method: str, result: Raw) -> Raw:
    """Adds what 2026-07-28 requires of a result and a legacy server does not know; a result that is not an object stays unchanged."""
    view = memoryview(result)
    if bytes(view[:1]) != b"{":
        return result
    cache = b',"ttlMs":0,"cacheScope":"private"' if method in _CACHEABLE else b""
    separator = b"" if _REST_OF_EMPTY_OBJECT.match(view, 1) else b","
    return Raw(b"".join((b'{"resultType":"complete"', cache, separator, view[1:])))


def as_modern_error(method: str, error: Raw) -> Raw:
    """Returns a legacy server's error with the code of 2026-07-28; message and data stay."""
    if method.startswith("resources/") and error_code(error) == LEGACY_RESOURCE_NOT_FOUND:
        return with_members(error, code=Raw(b"%d" % INVALID_PARAMS))
    return error


def as_legacy_result(method: str, result: Raw, *, is_wrapped: bool = False) -> Raw:
    """Removes what 2026-07-28 added to results. A result that is not an object stays unchanged, and so does an extension's type.

    Args:
        is_wrapped: whether structured content is wrapped even if it is an object, because its tool's schema allows other values, too.
    """
    try:
        members = opened(result)
    except ValueError:
        return result
    dropped = {"ttlMs", "cacheScope"} & members.keys() if method in _CACHEABLE else set()
    if members.get("resultType") == _COMPLETE:
        dropped.add("resultType")
    is_kept = method != "tools/call" or not _wrap_content(members, is_wrapped=is_wrapped)
    return result if is_kept and not dropped else closed({key: value for key, value in members.items() if key not in dropped})


def with_content_of_legacy(result: Raw) -> Raw:
    """Returns a legacy server's result with structured content that is an object, as 2025-11-25 requires."""
    try:
        members = opened(result)
    except ValueError:
        return result
    return closed(members) if _wrap_content(members, is_wrapped=False) else result


def _wrap_content(members: dict[str, Raw], *, is_wrapped: bool) -> bool:
    """Replaces structured content by its projection, if it needs one; returns whether it did."""
    content = members.get("structuredContent", NOTHING)
    if not content or (bytes(memoryview(content)[:1]) == b"{" and not is_wrapped):
        return False
    members["structuredContent"] = closed({"result": content})
    return True


def as_legacy_error(method: str, error: Raw) -> Raw:
    """Reverses `as_modern_error`: an invalid parameter whose data name the URI means a resource that does not exist."""
    if method.startswith("resources/") and error_code(error) == INVALID_PARAMS and _names_uri(error):
        return with_members(error, code=Raw(b"%d" % LEGACY_RESOURCE_NOT_FOUND))
    return error


def as_legacy_question(method: str, params: Raw) -> Raw:
    """Adds what 2025-11-25 requires of a server's question and 2026-07-28 dropped; a question that is not an object stays unchanged."""
    if method != "elicitation/create":
        return params
    try:
        members = opened(params)
    except ValueError:
        return params
    if members.get("mode") != _URL_MODE or "elicitationId" in members:
        return params
    return closed(members | {"elicitationId": dump(secrets.token_hex(ELICITATION_ID_BYTES))})


def read_subscription_id(params: Raw) -> Raw:
    """Returns the id of the request that a notification belongs to; empty if the notification names none."""
    try:
        return opened(opened(params)["_meta"]).get(SUBSCRIPTION_ID_KEY, NOTHING)
    except (KeyError, ValueError):
        return NOTHING


def without_subscription_id(params: Raw) -> Raw:
    """Returns params without the subscription id, for AI clients, because it names a request of ours."""
    if not read_subscription_id(params):
        return params
    members = opened(params)
    meta = opened(members.pop("_meta"))
    del meta[SUBSCRIPTION_ID_KEY]
    return closed(members | ({"_meta": closed(meta)} if meta else {}))


def error_code(error: Raw) -> int:
    """Returns the code of a reply's error; 0 if it has none."""
    try:
        return int(bytes(opened(error).get("code", NOTHING)))
    except ValueError:
        return 0


def _names_uri(error: Raw) -> bool:
    try:
        return "uri" in opened(opened(error).get("data", NOTHING))
    except ValueError:
        return False


def own_result(method: str, result: Raw, era: Era) -> Envelope:
    """Returns a result that the hub makes itself; a modern one names the server that answers.

    Args:
        result: an object that is not empty and has no `_meta`.
    """
    if era is Era.LEGACY:
        return Envelope(result=result)
    return Envelope(result=as_modern_result(method, Raw(_OWN_META + memoryview(result)[1:])))
