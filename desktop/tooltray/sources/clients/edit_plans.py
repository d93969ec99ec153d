"""Which edits a wish means: of the clients that a person names, or of all; and an edit by its name, as the files are now.

Above it: client_edits. Below it: file_edits. Blocks for as long as reading takes.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tooltray.foundation.errors import Conflict, NotFound, Problem
from tooltray.foundation.phrases import Phrase
from tooltray.sources.clients.client_kinds import ClientKind, read_client_kinds, why_not_of
from tooltray.sources.clients.client_look import ClientLook
from tooltray.sources.clients.edit_names import Action, parts_of
from tooltray.sources.clients.file_edits import FileEdit, connecting, disconnecting

if TYPE_CHECKING:
    from tooltray.sources.clients.client_scans import Surroundings


def chosen(action: Action, clients: Sequence[str], look: ClientLook) -> list[ClientKind]:
    """The clients of some ids; without any, all that can have an entry.

    Raises:
        NotFound: there is no client of one of the ids.
    """
    kinds = {kind.id: kind for kind in read_client_kinds()}
    for client in clients:
        if client not in kinds:
            raise NotFound(
                Phrase("There is no AI client '{name}'", name=client), "", Phrase("See them: {command}", command="tooltray clients scan")
            )
    if clients:
        return [kinds[client] for client in dict.fromkeys(clients)]
    if action == "disconnect":
        return list(kinds.values())
    return [kind for kind in kinds.values() if _is_way_of_ours(kind) and look.places.is_installed(kind)]


def planned(action: Action, kinds: Sequence[ClientKind], around: "Surroundings", look: ClientLook) -> list[FileEdit]:
    """The edits of some clients."""
    if action == "disconnect":
        return without_us(kinds, look)
    return [edit for kind in kinds if _is_way_of_ours(kind) for edit in connecting(kind, look, around.own, around.environ)]


def without_us(kinds: Sequence[ClientKind], look: ClientLook) -> list[FileEdit]:
    """The edits that disconnect some clients; a file that several of them share is edited once."""
    edits: dict[object, FileEdit] = {}
    for kind in kinds:
        for edit in disconnecting(kind, look):
            edits.setdefault((edit.path, edit.changes), edit)
    return list(edits.values())


def edit_named(name: str, around: "Surroundings", look: ClientLook) -> FileEdit:
    """An edit by its id, based on the file as it is now.

    Raises:
        NotFound: there is no such client.
        Conflict: nothing of the kind is to be done any more.
    """
    action, client, path = parts_of(name)
    kinds = chosen(action, [client], look)
    for edit in planned("disconnect" if action == "disconnect" else "connect", kinds, around, look):
        if edit.id == name:
            return edit
    message = Phrase("the file is another one by now than when the change was shown")
    raise Conflict(Phrase("{file} has changed since", file=path or client), message, Phrase("Look at the change again"))


def why_unable(kind: ClientKind, look: ClientLook) -> Problem | None:
    """Why a client cannot be connected that is asked for; None: it can."""
    title = Phrase("{client} cannot be connected by Tooltray", client=kind.name)
    if reason := why_not_of(kind):
        return Problem(title, reason)
    if kind.way == "link":
        return Problem(title, Phrase("it keeps its servers where no file can be written"), Phrase("Use its link in the window"))
    if any(not file.project for file in look.files(kind)):
        return None
    return Problem(
        title, Phrase("nobody knows where its file has to be before it has made it"), Phrase("Start {client} once", client=kind.name)
    )


def _is_way_of_ours(kind: ClientKind) -> bool:
    return kind.way != "link" and not why_not_of(kind)
