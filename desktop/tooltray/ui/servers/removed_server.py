"""A server that was removed: what is needed to restore it, and what a toast says of it."""

from collections.abc import Iterator, Mapping

import msgspec

from tooltray.foundation.snapshots.setup import ServerRemoval
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.origins import is_of_file, project_of

MOST_NAMES = 3  # of one kind; it is to be read in the moment before it goes


class RemovedServer(msgspec.Struct, frozen=True):
    name: str
    entry: Mapping[str, object]
    is_default: bool
    removal: ServerRemoval  # what is to go with it
    project: str = ""  # the folder of the file that it was in; empty: the settings


async def take_out(context: PageContext, name: str) -> RemovedServer:
    """Removes a server; its secrets stay.

    Raises:
        TooltrayError: it was not removed, with the reason.
    """
    api, server = context.hub.servers, context.servers.find(name)
    if server is not None and is_of_file(server):
        there = await api.get_server_entry(name)
        gone = await api.remove_mcp_server(name, keep_secrets=True)
        return RemovedServer(there.name, there.entry, server.is_default, gone, project_of(server))
    entry = (await api.get_mcp_servers()).get(name, {})
    is_default = name in await api.get_mcp_default_servers()
    return RemovedServer(name, entry, is_default, await api.remove_mcp_server(name, keep_secrets=True))


async def bring_back(context: PageContext, removed: RemovedServer) -> None:
    """Undoes a removal."""
    await context.hub.servers.add_mcp_server(removed.name, removed.entry, removed.is_default, removed.project)


async def forget_secrets(context: PageContext, removal: ServerRemoval) -> None:
    """Deletes the secrets that only a removed server used, when its removal can no longer be undone."""
    if names := [*removal.secrets, *filter(None, [removal.sign_in])]:
        await context.hub.secrets.remove_unused_secrets(names)


def removed_words(removed: RemovedServer) -> str:
    """Returns one line about a removal; it may name secrets, and never contains their values."""
    is_of_file = bool(removed.project)
    text = tr("{name} is removed from its file", name=removed.name) if is_of_file else tr("{name} is removed", name=removed.name)
    return " · ".join([text, *_of_secrets(removed.removal)])


def _of_secrets(removal: ServerRemoval) -> Iterator[str]:
    if len(removal.secrets) > 1:
        yield tr("with its secrets {names}", names=_listed(removal.secrets))
    elif removal.secrets:
        yield tr("with its secret {names}", names=removal.secrets[0])
    if removal.sign_in:
        yield tr("its sign-in ends")
    for shared in removal.shared:
        users = _listed(shared.users)
        is_one = len(shared.users) == 1
        stays = tr("{name} stays, {users} still uses it", name=shared.name, users=users)
        yield stays if is_one else tr("{name} stays, {users} still use it", name=shared.name, users=users)


def _listed(names: tuple[str, ...]) -> str:
    shown, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    return tr("{names} and {count} more", names=shown, count=more) if more > 0 else shown
