"""What the window says of a server that was just removed, and of its secrets. Knows no widget."""

from collections.abc import Iterator

from tooltray.snapshots.removals import ServerRemoval
from tooltray.ui.commands import NewServer
from tooltray.ui.i18n import tr


def removed_words(removed: NewServer) -> str:
    """In one line; the names of secrets may be shown, their values are not here."""
    is_of_file = bool(removed.project)
    text = tr("{name} is removed from its file", name=removed.name) if is_of_file else tr("{name} is removed", name=removed.name)
    return " · ".join([text, *(_of_secrets(removed.removal) if removed.removal is not None else ())])


def _of_secrets(removal: ServerRemoval) -> Iterator[str]:
    if removal.secrets:
        yield tr("with its secret {names}", names=", ".join(removal.secrets))
    if removal.sign_in:
        yield tr("its sign-in ends")
    for shared in removal.shared:
        yield tr("{name} stays, {users} still uses it", name=shared.name, users=", ".join(shared.users))
