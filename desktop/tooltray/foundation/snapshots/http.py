"""The addresses at which AI clients and programs can connect over HTTP, and their tokens."""

from typing import ClassVar, Literal

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.hidden_fields import HidesFields

Scope = Literal["read", "call", "manage"]
"""What a token may do, each with what those before it may: look, call tools, change things."""


class HttpStatus(msgspec.Struct, frozen=True):
    """Whether and where AI clients can connect over HTTP."""

    is_enabled: bool = False  # by the settings
    is_open: bool = False
    url: str = ""  # of all servers together, if it is open
    requires_token: bool = True
    problem: Problem | None = None  # why it is enabled and not open
    is_api_enabled: bool = False  # programs may do over HTTP what a person can do here; by the settings
    api_url: str = ""  # of that, if it is open
    is_api_trusted: bool = False  # one of their tokens may also approve calls, trust servers and allow folders
    is_trust_asked: bool = False  # an older version's setting said so of all programs, and a person has not answered what is to be


class ApiTokenSnapshot(msgspec.Struct, frozen=True):
    """A token of the REST interface."""

    name: str
    scope: str  # "read", "call" or "manage", each with what those before it may
    created_at: float = 0.0  # unix seconds; 0: unknown
    expires_at: float | None = None  # None: it lasts until it is taken back
    is_ended: bool = False  # that time has come: it opens nothing any more
    is_trusted: bool = False  # it may also approve calls, trust servers and allow folders
    is_default: bool = False  # it can be shown again


class NewApiToken(HidesFields, frozen=True):
    """A token that was just made, shown this once."""

    hidden: ClassVar = ("token",)

    token: str
    name: str
    scope: str
    expires_at: float | None = None
    is_trusted: bool = False
    is_lasting: bool = True  # False: trusted as long as this hub runs, since the place of the secrets cannot be used


class ClientTokenSnapshot(msgspec.Struct, frozen=True):
    """An AI client that may connect over HTTP; only the client knows the token itself."""

    name: str
    created_at: float  # unix seconds
    used_at: float = 0.0  # unix seconds; 0: not since the hub started
