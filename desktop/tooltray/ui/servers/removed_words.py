"""What the window says of a server that was just removed, and of its secrets. Knows no widget."""

from collections.abc import Iterator

from tooltray.snapshots.removals import ServerRemoval
from tooltray.ui.i18n import tr
from tooltray.ui.servers.server_commands import NewServer

MOST_NAMES = 3  # of one kind; it is to be read in the moment before it goes


def removed_words(removed: NewServer) -> str:
    """In one line; the names of secrets may be shown, their values are not here."""
    is_of_file = bool(removed.project)
    text = tr("{name} is removed from its file", name=removed.name) if is_of_file else tr("{name} is removed", name=removed.name)
    return " · ".join([text, *(_of_secrets(removed.removal) if removed.removal is not None else ())])


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
