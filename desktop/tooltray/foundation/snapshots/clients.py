"""AI clients: their sessions and projects, and the servers and tools that they see."""

from collections.abc import Mapping

import msgspec


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
    summary: str = ""  # which tools such a client gets and about how many tokens they cost, in words; empty: there are none


class ProfileSnapshot(msgspec.Struct, frozen=True):
    """A named set of servers and tools."""

    name: str
    servers: tuple[str, ...] | None  # None: all
    tools: Mapping[str, tuple[str, ...]]  # by server, the only ones of it; names are the server's own
    description: str = ""
    tool_count: int = 0  # offered through it now
    skills: Mapping[str, tuple[str, ...]] = {}  # by server, the only skills of it
