"""AI clients on this computer: their files, the servers in them, whether they use Tooltray, and the effects of connecting and importing.

No value of a secret is in any of these.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.entries import FormField
from tooltray.foundation.verbs import JsonMapping

Connection: TypeAlias = Literal["none", "connected", "outdated", "broken"]
"""Whether an AI client's file has an entry of our bridge: none; the right one; one that works but is written in an older way; one whose
program is not there, or that is switched off."""


class ClientServer(msgspec.Struct, frozen=True):
    """One server in the file of an AI client.

    Attributes:
        name: its key in the file.
        place: keys from the document to the entry.
        target: the command line or the URL, without secrets, in one line.
        kind: "server"; "bridge": it is Tooltray; "loop": it leads to Tooltray through another hub or proxy.
        state: "on"; "off": switched off in its client; "waits": its client has not approved it yet.
        secrets: names of values that are in it in plain text and look like secrets.
        line: where it begins, from 1; 0: unknown.
    """

    name: str
    place: tuple[str, ...]
    target: str
    kind: Literal["server", "bridge", "loop"] = "server"
    state: Literal["on", "off", "waits"] = "on"
    secrets: tuple[str, ...] = ()
    line: int = 0


class AiClientFile(msgspec.Struct, frozen=True):
    """One file in which an AI client keeps servers.

    Attributes:
        path: absolute; links in it are not resolved.
        project: the folder to which the file, or its list of servers, belongs; empty: all folders.
        is_version_controlled: it is in a work tree of git or the like; such files change only when they are chosen one by one.
        problem: why it cannot be read or changed; such a file is never touched.
        line: of the problem, from 1; 0: the whole file.
    """

    path: str
    exists: bool
    project: str = ""
    connection: Connection = "none"
    servers: tuple[ClientServer, ...] = ()
    is_version_controlled: bool = False
    problem: Problem | None = None
    line: int = 0


class AiClient(msgspec.Struct, frozen=True):
    """An AI client that Tooltray knows.

    Attributes:
        id: in commands, such as "claude-code".
        is_installed: its program or its files exist.
        is_running: None: unknown.
        connection: the best of its files that are for all projects.
        can_connect: Tooltray can write its entry.
        way: how the entry is written: "file", "command" (the client's own) or "link" (the user has to click it).
        why_not: why it cannot be connected; empty if it can.
        note: what the user should know or do, such as a restart.
        link: for the way "link".
    """

    id: str
    name: str
    is_installed: bool
    is_running: bool | None = None
    connection: Connection = "none"
    files: tuple[AiClientFile, ...] = ()
    can_connect: bool = True
    way: Literal["file", "command", "link"] = "file"
    why_not: str = ""
    note: str = ""
    link: str = ""


class ClientScan(msgspec.Struct, frozen=True):
    """The result of a scan of all AI clients.

    Attributes:
        clients: the installed ones first, else by name.
        servers: the number of entries, without our own; `different_servers`: the number without duplicates.
        plain_secrets: the number of secrets in them in plain text.
        new_servers: how many of them no server here is like: in program, arguments, variables or address, without the values of secrets.
    """

    clients: tuple[AiClient, ...] = ()
    servers: int = 0
    different_servers: int = 0
    plain_secrets: int = 0
    new_servers: int = 0


class ClientEdit(msgspec.Struct, frozen=True):
    """A change of one AI client's file, before it is made.

    Attributes:
        id: names client, file and action; for `apply_client_edits`.
        revision: of the content that the change is based on.
        action: "connect", "disconnect", "mend" (an entry of ours that is outdated or broken), "remove" (servers that were imported) or
            "skill" (our own skill is written).
        path: the file that changes.
        diff: unified, secrets masked; empty if nothing would change.
        command: the client's own command that makes the change; empty: Tooltray writes the file.
        needs_own_yes: the file is under version control, and so has to be chosen explicitly.
        is_foreign: a skill that Tooltray has not written would be replaced, which needs an answer of the user for this file.
        problem: why it cannot be made.
    """

    id: str
    client: str
    action: Literal["connect", "disconnect", "mend", "remove", "skill"]
    path: str
    revision: str = ""
    diff: str = ""
    command: tuple[str, ...] = ()
    needs_own_yes: bool = False
    is_foreign: bool = False
    problem: Problem | None = None


class ClientChange(msgspec.Struct, frozen=True):
    """A change of an AI client's file that was made.

    Attributes:
        id: for `undo_client_change`.
        at: unix seconds.
        servers: names of the entries that it wrote or removed.
        undo: what can be undone now: "exact" (the file becomes what it was, to the byte), "entries" (the file has changed since: only our
            change is reversed), "none".
        is_encrypted: the copy of the file from before the change is encrypted.
        problem: what went wrong; the file is as it was.
        note: what the user should know, such as "restart Codex".
    """

    id: str
    client: str
    action: Literal["connect", "disconnect", "mend", "remove", "skill", "undo"]
    path: str
    at: float
    servers: tuple[str, ...] = ()
    undo: Literal["exact", "entries", "none"] = "none"
    is_encrypted: bool = False
    problem: Problem | None = None
    note: str = ""


def moved_by(changes: Sequence[ClientChange]) -> list[ClientChange]:
    """Returns the changes that removed servers from a file and were not undone; also those that cannot be undone now."""
    undone = [(each.path, each.at) for each in changes if each.action == "undo"]
    return [
        each
        for each in changes
        if each.action == "remove" and (each.undo != "none" or not any(path == each.path and at > each.at for path, at in undone))
    ]


class FoundSecret(msgspec.Struct, frozen=True):
    """A value in an entry that will be stored as a secret.

    Attributes:
        key: of the variable, header or argument.
        because: "name" or "form": by what it was recognised.
    """

    key: str
    because: Literal["name", "form"]


class ImportSource(msgspec.Struct, frozen=True):
    """The source of an import candidate: an AI client and a file, or a text or file that was given."""

    client: str
    path: str
    name: str
    project: str = ""


class ImportCandidate(msgspec.Struct, frozen=True):
    """A server that can be imported.

    Attributes:
        id: for `import_servers`; the same as long as the content is the same.
        name: under which it would be added.
        state: "new"; "same": it has been added already; "different": a server of its name exists with another content; "broken": unusable.
        sources: every entry that is this server; one server in three clients is one candidate.
        entry: in the spelling of `mcpServers`, secrets masked.
        target: the command line or the URL, in one line.
        secrets: values that will be stored as secrets.
        asks: values that are nowhere on the disk, such as `${input:...}`.
        proxied: the proxy or container that the original entry starts, in words; empty: it starts neither.
        is_chosen: it is included in "all". A project's server, one that is off, or one that is not approved is not.
        why_not_chosen: in words.
        remarks: which parts of the entry are not carried over, in words.
        here: the existing server of the states "same" and "different".
        problem: of the state "broken".
    """

    id: str
    name: str
    state: Literal["new", "same", "different", "broken"]
    sources: tuple[ImportSource, ...]
    entry: JsonMapping = {}
    target: str = ""
    secrets: tuple[FoundSecret, ...] = ()
    asks: tuple[FormField, ...] = ()
    proxied: str = ""
    is_chosen: bool = True
    why_not_chosen: str = ""
    remarks: tuple[str, ...] = ()
    here: str = ""
    problem: Problem | None = None


class ImportPlan(msgspec.Struct, frozen=True):
    """The servers that can be imported from some sources."""

    candidates: tuple[ImportCandidate, ...] = ()
    problems: tuple[Problem, ...] = ()  # of files that could not be read


class ImportedServer(msgspec.Struct, frozen=True):
    """The result of an import for one server.

    Attributes:
        state: "listed" (it runs and has listed its tools), "added" (it waits for an approval, a sign-in or its first use), "failed",
            "cancelled".
        removed_from: the changes that removed it from its clients' files; empty as long as it is not "listed".
    """

    id: str
    name: str
    state: Literal["listed", "added", "failed", "cancelled"]
    tools: int = 0
    removed_from: tuple[ClientChange, ...] = ()
    problem: Problem | None = None
