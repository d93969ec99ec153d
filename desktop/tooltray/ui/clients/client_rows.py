"""The rows of the list of AI clients: what sessions, kinds of clients and the scan of this computer know of each, in one row. Pure."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import msgspec

from tooltray.foundation.snapshots.ai_clients import AiClient, ClientScan
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, SessionSnapshot
from tooltray.ui.clients.client_words import client_name, client_title, has_own_choices

Group = tuple[str, ...]
"""What decides the tokens in a client's context: how tools are listed, the profile; of a session its project and loaded servers, too."""
ANYONE: Group = ("", "")
"""A client that nothing is known of."""


class ClientRow(msgspec.Struct, frozen=True):
    """An AI client.

    Attributes:
        key: identifies the row.
        kind: its settings; None: its name in sessions is not known, so nothing can be chosen for it.
        found: what the scan found; None: not a client that Tooltray knows on this computer.
        sessions: the open ones.
        tokens: of the definitions in its context; None: not known, or it does not use Tooltray.
        mode: how tools are listed to it: "everything", "lazy" or "search"; empty with `tokens` not known.
        whole: the tokens of all tools of all servers.
        most: the largest number of tokens of all rows; so that their bars compare them.
    """

    key: str
    name: str
    kind: ClientModeSnapshot | None = None
    found: AiClient | None = None
    sessions: tuple[SessionSnapshot, ...] = ()
    tokens: int | None = None
    mode: str = ""
    whole: int = 0
    most: int = 1

    @property
    def is_here(self) -> bool:
        """Whether it is installed, was connected, or has settings of its own."""
        is_known = self.kind is not None and (self.kind.is_seen or has_own_choices(self.kind))
        return bool(self.sessions) or is_known or (self.found is not None and self.found.is_installed)

    @property
    def uses_tooltray(self) -> bool:
        """Whether it is connected now, or will be when it runs."""
        is_set_up = self.found is not None and self.found.connection in ("connected", "outdated")
        return is_set_up or bool(self.sessions) or (self.kind is not None and (self.kind.is_seen or has_own_choices(self.kind)))

    @property
    def share(self) -> float:
        """The part of all tools' tokens that is in its context."""
        return (self.tokens or 0) / self.whole if self.whole else 0.0

    @property
    def groups(self) -> dict[Group, tuple[str, str]]:
        """The groups of its sessions, or the one that it would start in, with a client and a session of each."""
        if self.sessions:
            return {_group_of(session): ("", session.id) for session in self.sessions}
        return {(self.kind.shown_mode, self.kind.profile): (self.kind.client, "")} if self.kind is not None else {ANYONE: ("", "")}


class OtherClients(msgspec.Struct, frozen=True):
    """The row before the clients that are not installed.

    Attributes:
        is_open: they are listed below it.
    """

    count: int
    is_open: bool
    key: str = "\0others"


Row = ClientRow | OtherClients


def _group_of(session: SessionSnapshot) -> Group:
    project = session.project.path if session.project is not None else ""
    return (session.mode, session.profile, session.client, session.server, project, *session.activated)


def client_rows(
    kinds: Iterable[ClientModeSnapshot], sessions: Iterable[SessionSnapshot], scan: ClientScan | None
) -> tuple[list[ClientRow], list[ClientRow]]:
    """Returns a row for each client that is here, the connected ones first; and for each that is not installed."""
    own = [kind for kind in kinds if kind.client]
    clients = list(scan.clients) if scan is not None else []
    of_kind, others = _by_kind([session for session in sessions if session.is_connected], [kind.client for kind in own])
    rows = []
    for kind in own:
        title = client_title(kind)
        found = next((each for each in clients if each.name.casefold() == title.casefold() or each.id == kind.client), None)
        if found is not None:
            clients.remove(found)
        key = found.id if found is not None else f"kind {kind.client}"
        rows.append(ClientRow(key, found.name if found is not None else title, kind, found, tuple(of_kind.get(kind.client, ()))))
    rows += [ClientRow(each.id, each.name, found=each) for each in clients]
    rows += [ClientRow(f"session {name}", name, sessions=tuple(each)) for name, each in others.items()]
    rows.sort(key=lambda row: (_rank(row), row.name.casefold()))
    return [row for row in rows if row.is_here], [row for row in rows if not row.is_here and row.found is not None]


def find_row(rows: Sequence[ClientRow], name: str) -> ClientRow | None:
    """Returns the row of a client by its key, its id, its title, or the name that it gives itself, which may fit a pattern."""
    exact = (row for row in rows if name in (row.key, row.name) or (row.kind is not None and row.kind.client == name))
    fitting = (row for row in rows if row.kind is not None and fnmatchcase(name, row.kind.client))
    return next(exact, None) or next(fitting, None)


def _by_kind(
    sessions: Iterable[SessionSnapshot], kinds: Sequence[str]
) -> tuple[dict[str, list[SessionSnapshot]], dict[str, list[SessionSnapshot]]]:
    """Returns the sessions of each kind, and sessions of no kind by the names of their clients."""
    of_kind: dict[str, list[SessionSnapshot]] = {}
    others: dict[str, list[SessionSnapshot]] = {}
    for session in sessions:
        names = (session.kind or session.client, session.client)
        kind = next((name for name in names if name in kinds), None)
        kind = kind or next((kind for kind in kinds if fnmatchcase(session.client, kind)), None)
        if kind is not None:
            of_kind.setdefault(kind, []).append(session)
        else:
            others.setdefault(client_name(session), []).append(session)
    return of_kind, others


def _rank(row: ClientRow) -> int:
    if row.sessions:
        return 0
    order = ("broken", "outdated", "connected")
    if row.found is not None and row.found.connection in order:
        return 1 + order.index(row.found.connection)
    return 4
