"""AI clients and programs: their sessions, what they see, the HTTP addresses where they can connect, and their tokens."""

from collections.abc import Mapping
from typing import ClassVar, Literal

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.hidden_fields import HidesFields

Scope = Literal["read", "call", "manage"]
"""What a token may do, each with what those before it may: look, call tools, change things."""


class SessionProject(msgspec.Struct, frozen=True):
    """The project that an AI client works on, as far as it is known."""

    path: str  # absolute
    name: str
    source: str  # its source: "feedback", "roots", "folder" (in which its bridge was started) or "person"


class SessionSnapshot(msgspec.Struct, frozen=True):
    """One AI client's session: who it is, and what it sees."""

    id: str
    client: str  # as it names itself; empty until it has
    version: str = ""
    server: str = ""  # it has this one alone
    profile: str = ""  # the named set of servers and tools that it gets; empty: everything
    mode: str = "everything"  # how tools are shown to it: "everything", "lazy" or "search"
    reason: str = ""  # why this mode, in words
    project: SessionProject | None = None
    activated: tuple[str, ...] = ()  # lazy servers whose tools it has asked for
    is_connected: bool = True  # what is known of a session is kept for a while after its client left
    kind: str = ""  # `client` of the ClientModeSnapshot that its client belongs to; empty: it has not named itself
    connected_at: float = 0.0  # unix seconds


class ClientModeSnapshot(msgspec.Struct, frozen=True):
    """The tool listing of one kind of AI client."""

    client: str  # as it names itself; empty: every other one
    title: str  # how people know it
    mode: str  # chosen by the person: "everything", "lazy", "search" or "automatic"; empty: as the servers' settings say
    shown_mode: str  # what that comes to: "everything", "lazy" or "search"
    reason: str  # why, in words
    profile: str = ""  # that its sessions get unless they ask for another
    is_seen: bool = False  # it was connected since the hub started
    auto_approve: tuple[str, ...] | None = None  # in the place of the servers' own; None: the servers' own count
    result_limit: int | None = None  # tokens of a result that it gets at once; None: as servers and tools say
    call_rules: tuple[str, ...] | None = None  # in words, its own `callRules`, in the place of the servers'; None: theirs count
    flow_guard: bool | None = None  # None: as for all
    csv_tables: bool | None = None  # whether it gets tables in results as CSV; None: as servers and tools say
    summary: str = ""  # which tools such a client gets and about how many tokens they cost, in words; empty: there are none


class ProfileSnapshot(msgspec.Struct, frozen=True):
    """A named set of servers and tools."""

    name: str
    servers: tuple[str, ...] | None  # None: all
    tools: Mapping[str, tuple[str, ...]]  # by server, the only ones of it; names are the server's own
    description: str = ""
    tool_count: int = 0  # of the user's servers, offered through it now
    skills: Mapping[str, tuple[str, ...]] = {}  # by server, the only skills of it


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
    expires_at: float | None = None  # None: it lasts until it is revoked
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
