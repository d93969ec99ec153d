"""What a program may do over REST only where a person has said so: say yes in the person's place, or widen what goes unasked.

Above it: the tables of operations. Below it: the settings, as they are read.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from tooltray.config.server_config import MCPServerConfig, config_hash
from tooltray.config.settings import read_entry
from tooltray.errors import Denied, TooltrayError
from tooltray.publish.rest.operation import Call
from tooltray.publish.rest.problems import Failed
from tooltray.publish.rest.server_entries import read_given
from tooltray.servers.entries.portable_entry import without_secrets
from tooltray.tasks import finish_in_thread

READS = ("read",)  # what goes unasked of a server whose entry does not say
PERSONS_OWN = ("allowedFolders", "fileServers")


def not_trusted() -> Denied:
    """Why a program may not do something that its person may."""
    hint = "Do it in the window or with `tooltray`; `tooltray http api on --trusted` lets programs do it, too."
    return Denied("A program may not do this", "it would allow something in a person's place", hint)


def check_is_not_of_api(changes: Mapping[str, Any]) -> None:
    """Changes of the settings do not concern this interface itself: it is a person's own.

    Raises:
        Denied: they do.
    """
    place: Any = changes
    for name in ("publish", "http", "api"):
        if not isinstance(place, Mapping):
            break  # all of it is put away, and this with it
        if name not in place:
            return
        place = place[name]
    raise Denied("A program may not do this", "it would change what programs may do here", "See `tooltray http api`.")


async def widens_entry(call: Call) -> bool:
    """A server's entry that lets more calls go unasked than the one of before; what was allowed to another program does not count."""
    name, given = call.arguments["name"], call.arguments["config"]
    before = call.config.settings.mcp_servers.get(name)
    known = before.auto_approve if before and not _runs_another(name, before, given) else READS
    rules = _chosen_beside(call, name) or given.get("autoApprove")
    if rules is None:
        rules = READS
    return isinstance(rules, list | tuple) and not ("all" in known or all(rule in known for rule in rules))  # another type is refused


def _runs_another(name: str, before: MCPServerConfig, given: Mapping[str, Any]) -> bool:
    """Whether another program would run, or the same one otherwise. A secret and the placeholder in its place are the same."""
    try:
        entries = (before.to_entry(), read_given(given, name))
        was, would_be = (config_hash(read_entry(name, without_secrets(name, entry).entry)) for entry in entries)
    except (TooltrayError, Failed):
        return False  # it cannot be used, and is refused for that
    return was != would_be


def _chosen_beside(call: Call, name: str) -> tuple[str, ...] | None:
    """What a person chose here for a server of another file, which counts whatever its entry there says."""
    chosen = call.config.own_settings.file_servers.get(name) if call.config.file_server(name) else None
    return chosen.auto_approve if chosen else None


async def accepts_a_question(call: Call) -> bool:
    """A server asks the person; a program may say no to that."""
    return bool(call.arguments["action"] == "accept")


async def changes_settings_of_persons(call: Call) -> bool:
    """Who gets in over HTTP, which folders servers may work in, whose calls go unasked."""
    changes = call.arguments["changes"]
    if any(name in changes for name in PERSONS_OWN):
        return True
    publish = changes.get("publish", {})
    if not isinstance(publish, Mapping):
        return "publish" in changes  # all of it goes
    return "http" in publish or ("clients" in publish and _touches_approval(publish["clients"]))


async def allows_a_folder(call: Call) -> bool:
    """One that lies in no folder which a person has allowed already."""
    path = await finish_in_thread(os.path.realpath, call.arguments["path"])
    return not _is_in(path, await call.presenter.get_allowed_folders())


def _touches_approval(clients: Any) -> bool:
    members = clients.values() if isinstance(clients, Mapping) else [None]
    return any(not isinstance(member, Mapping) or "autoApprove" in member for member in members)


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(PurePath(path).is_relative_to(folder) for folder in folders)
