"""Plans the edits that write Tooltray's own skill into the skills folders of AI clients. Blocks while files are read; writes nothing.

A client's folder comes from `resources/ai-clients.json`, which holds known facts only, or from the user.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from tooltray.config.foreign_configs.documents import read_document
from tooltray.foundation.errors import NotFound, Problem
from tooltray.foundation.files.file_text import CannotOpen
from tooltray.foundation.phrases import Phrase
from tooltray.sources.clients.agent_skill import MARK, NAME
from tooltray.sources.clients.client_kinds import ClientKind, ClientPlaces, read_client_kinds
from tooltray.sources.clients.file_edits import FileEdit

FILE = "SKILL.md"
FOLDER = ClientKind("folder", "", "text", (), "plain")
"""The client in an edit of a folder that the user names."""


def planned_skills(
    clients: Sequence[str], folder: str, text: str, places: ClientPlaces, kinds: Iterable[ClientKind] = ()
) -> list[FileEdit]:
    """Returns the edits that write a skill.

    Args:
        clients: ids; empty: all installed clients whose folder is known.
        folder: a folder of skills, instead of clients; empty: none.
        kinds: the known clients; empty: the table's.

    Raises:
        NotFound: the client does not exist.
    """
    if folder:
        return [_edit(FOLDER, Path(folder), text, _why_not_in(folder))]
    known = {kind.id: kind for kind in (kinds or read_client_kinds())}
    if missing := [client for client in clients if client not in known]:
        hint = Phrase("See them: {command}", command="tooltray clients scan")
        raise NotFound(Phrase("AI client '{name}' not found", name=missing[0]), "", hint)
    chosen = [known[client] for client in dict.fromkeys(clients)] or [kind for kind in known.values() if not _why_not(kind, places)]
    return [_edit(kind, places.skills_folder(kind), text, _why_not(kind, places)) for kind in chosen]


def skill_edit_named(client: str, path: str, text: str, places: ClientPlaces, kinds: Iterable[ClientKind] = ()) -> FileEdit:
    """Returns an edit by the parts of its id, based on the file as it is now.

    Raises:
        NotFound: the client does not exist, or its folder has changed.
    """
    folder = str(Path(path).parent.parent)
    is_folders = client == FOLDER.id
    edits = planned_skills(() if is_folders else (client,), folder if is_folders else "", text, places, kinds)
    if str(edits[0].path) != path:
        raise NotFound(Phrase("{file} is not a file for this skill", file=path), "", Phrase("Review the change again"))
    return edits[0]


def _edit(kind: ClientKind, folder: Path | None, text: str, problem: Problem | None) -> FileEdit:
    if folder is None or problem:
        return FileEdit(kind, "skill", folder / NAME / FILE if folder else Path(FILE), problem=problem)
    path = folder / NAME / FILE
    title = Phrase("{file} is not changed by Tooltray", file=str(path))
    if link := next((each for each in (path, path.parent) if os.path.islink(each)), None):
        return FileEdit(kind, "skill", path, problem=Problem(title, Phrase("{path} is a link", path=str(link)), Phrase("Remove the link")))
    try:
        document = read_document(path, "text")
    except CannotOpen as error:
        return FileEdit(kind, "skill", path, problem=Problem(title, error.reason))
    return FileEdit(kind, "skill", path, document, text=text, is_foreign=document.exists and MARK not in document.text)


def _why_not(kind: ClientKind, places: ClientPlaces) -> Problem | None:
    """Returns why the skill cannot be written for a client; None if it can."""
    title = Phrase("The skill cannot be written for {client}", client=kind.name)
    if places.skills_folder(kind) is None:
        hint = Phrase("Name its folder of skills: tooltray skill write --folder DIR")
        return Problem(title, Phrase("its folder of skills is not known"), hint)
    return None if places.is_installed(kind) else Problem(title, Phrase("it is not installed"))


def _why_not_in(folder: str) -> Problem | None:
    if os.path.isabs(folder) and os.path.isdir(folder):
        return None
    return Problem(Phrase("The skill cannot be written to {folder}", folder=folder), Phrase("this is not an existing folder"))
