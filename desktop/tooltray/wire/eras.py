"""Payloads between the eras, without building their contents.

Only the first two levels of an object are opened, and only where they must change. `legacy`: initialize handshake, 2024-11-05 to
2025-11-25. `modern`: every request carries its envelope in `_meta`, 2026-07-28. Above it: sessions and McpClient. Below it: envelope.
"""

from enum import Enum

import msgspec
from msgspec import Raw

from tooltray.wire.envelope import NOTHING
from tooltray.wire.protocol import CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY, LOG_LEVEL_KEY, MODERN_VERSIONS, PROTOCOL_VERSION_KEY

_ENVELOPE_KEYS = (PROTOCOL_VERSION_KEY, CLIENT_INFO_KEY, CLIENT_CAPABILITIES_KEY, LOG_LEVEL_KEY)
_CACHEABLE = {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover"}
_encode = msgspec.json.encode


class Era(Enum):
    LEGACY = "legacy"
    MODERN = "modern"


class Meta(msgspec.Struct):
    """What the relay looks at in a request's `_meta`."""

    progress_token: Raw = msgspec.field(name="progressToken", default=NOTHING)
    version: Raw = msgspec.field(name=PROTOCOL_VERSION_KEY, default=NOTHING)
    capabilities: Raw = msgspec.field(name=CLIENT_CAPABILITIES_KEY, default=NOTHING)


class Head(msgspec.Struct):
    """What the relay looks at in a request's params."""

    meta: Meta = msgspec.field(name="_meta", default_factory=Meta)
    name: str = ""
    request_state: str = msgspec.field(name="requestState", default="")
    input_responses: dict[str, Raw] = msgspec.field(name="inputResponses", default_factory=dict)

    @property
    def era(self) -> Era:
        """Told by the request itself: the envelope names a version or there is none."""
        return Era.MODERN if self.meta.version else Era.LEGACY


_head_decoder = msgspec.json.Decoder(Head)
_object_decoder = msgspec.json.Decoder(dict[str, Raw])
_modern_versions = {_encode(version) for version in MODERN_VERSIONS}


def read_head(params: Raw) -> Head | None:
    """None where params is no object or these fields have other types."""
    try:
        return _head_decoder.decode(params) if params else Head()
    except ValueError:
        return None


def is_version_spoken(head: Head) -> bool:
    """Whether a modern request names a version of ours."""
    return bytes(head.meta.version) in _modern_versions


def without_envelope(params: Raw) -> Raw:
    """For a legacy server: some refuse requests that carry the modern envelope."""
    members = _object_decoder.decode(params)
    meta = _object_decoder.decode(members["_meta"])
    for key in _ENVELOPE_KEYS:
        meta.pop(key, None)
    members["_meta"] = Raw(_encode(meta))
    if not meta:
        del members["_meta"]
    return Raw(_encode(members))


def with_meta(params: Raw, added: dict[str, Raw]) -> Raw:
    """Adds or replaces members of `_meta`."""
    members = _object_decoder.decode(params) if params else {}
    meta = _object_decoder.decode(members["_meta"]) if "_meta" in members else {}
    members["_meta"] = Raw(_encode(meta | added))
    return Raw(_encode(members))


class _Progress(msgspec.Struct):
    token: Raw = msgspec.field(name="progressToken")


def read_progress_token(params: Raw) -> Raw:
    """
    Raises:
        ValueError: there is none.
    """
    return msgspec.json.decode(params, type=_Progress).token


def with_members(params: Raw, **added: Raw) -> Raw:
    """Adds or replaces members of an object."""
    return Raw(_encode(_object_decoder.decode(params) | added))


def as_modern_result(method: str, result: Raw) -> Raw:
    """Adds what 2026-07-28 requires of a result and a legacy server does not know."""
    cache = b',"ttlMs":0,"cacheScope":"private"' if method in _CACHEABLE else b""
    rest = memoryview(result)[1:]
    separator = b"" if bytes(rest[:32]).lstrip()[:1] == b"}" else b","
    return Raw(b"".join((b'{"resultType":"complete"', cache, separator, rest)))
