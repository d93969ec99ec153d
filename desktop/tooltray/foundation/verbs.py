"""Verbs of the API: their options that a signature does not show, and how calls reach the process that has the API's parts."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

Access: TypeAlias = Literal["", "read", "call", "manage", "person", "window"]
Rule: TypeAlias = Callable[[Any, Mapping[str, Any]], bool | Awaitable[bool]]
"""Decides by a part of the API and a call's arguments whether a program needs a trusted token for the call."""

MAX_BODY_BYTES = 1024 * 1024  # a set-up with hundreds of servers has less
MAX_PICTURES_BYTES = 32 * 1024 * 1024  # results and answers may contain pictures, as base64
READING = frozenset({"check", "count", "diagnose", "export", "get", "is", "list", "preview", "scan", "search"})
"""The first words of verbs that change nothing."""

Verb: TypeAlias = Callable[..., Coroutine[object, None, Any]]
JsonObject: TypeAlias = dict[str, Any]
JsonMapping: TypeAlias = Mapping[str, Any]
"""JSON objects with any content, which come from another program or are sent to one: to write into, and only to read."""
F = TypeVar("F", bound=Callable[..., Any])


class VerbOptions(msgspec.Struct, frozen=True):
    """The options of a verb.

    Attributes:
        access: the scope that a program's token needs over REST: "read", "call" or "manage". Or "person": only the window and the command
            line have it; "window": only the window. Empty: "read" for a verb whose first word is one of READING, else "manage".
        trusted: when a program needs a trusted token, besides the confirmations that the verb itself requests; None: never.
        max_body_bytes: the size limit of a request.
    """

    access: Access = ""
    trusted: Rule | None = None
    max_body_bytes: int = MAX_BODY_BYTES


def verb(access: Access = "", *, trusted: Rule | None = None, max_body_bytes: int = MAX_BODY_BYTES) -> Callable[[F], F]:
    """Declares options of a verb, with the arguments of VerbOptions; a verb without options needs no decorator."""

    def declare(function: F) -> F:
        function.verb_options = VerbOptions(access, trusted, max_body_bytes)  # type: ignore[attr-defined]
        return function

    return declare


def options_of(function: Callable[..., Any]) -> VerbOptions:
    """Returns the options of a verb, with the access that its name implies."""
    options: VerbOptions = getattr(function, "verb_options", None) or VerbOptions()
    by_name: Access = "read" if function.__name__.partition("_")[0] in READING else "manage"
    return msgspec.structs.replace(options, access=options.access or by_name)


def always(part: object, arguments: Mapping[str, object]) -> bool:
    """Requires a trusted token for every call."""
    return True


def when_enabled(part: object, arguments: Mapping[str, object]) -> bool:
    """Requires a trusted token to switch on something that the user may have switched off."""
    return bool(arguments["enabled"])


class LazyPart:
    """A stand-in for a part that is made at the first call of a verb."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._made = cache(make)

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._made(), verb)


class RemotePart:
    """A stand-in for a part that runs elsewhere: each method passes its name and arguments to `carry`."""

    def __init__(self, carry: Verb) -> None:
        """
        Args:
            carry: called with the verb's name and then the verb's own arguments.
        """
        self._carry = carry

    def __getattr__(self, verb: str) -> Verb:
        if verb.startswith("_"):  # read by copy, pickle and similar modules; no verb begins like this
            raise AttributeError(verb)

        async def carried(*args: Any, **kwargs: Any) -> Any:
            return await self._carry(verb, *args, **kwargs)

        carried.__name__ = verb
        return carried
