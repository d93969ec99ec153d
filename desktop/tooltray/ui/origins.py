"""The places of servers' entries and of secrets in words: the settings or a file, named by its name and its folder; the store of secrets.
Pure functions of snapshots."""

from pathlib import PurePath

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.server_text import shortened

HUB = "hub"  # the server that comes with Tooltray
LONGEST_CHIP = 18  # characters; a card has room for that beside its state and its facts


def server_name(name: str) -> str:
    """Returns the name of a server in a list of all servers; the one that is Tooltray itself has no name that users know."""
    return tr("Tooltray's own") if name == HUB else name


def secret_place(backend: str) -> str:
    """Returns where secrets are stored, as a part of a sentence.

    Args:
        backend: "keyring", "file" or "memory".
    """
    places = {"file": tr("the encrypted file"), "memory": tr("memory")}
    return places.get(backend) or tr("the keyring")


def visible_path(path: str) -> str:
    """Returns a path for display: invisible characters, or ones that reverse what follows, could make it look like another path."""
    return "".join(sign if sign.isprintable() else "?" for sign in path)


def folder_name(path: str) -> str:
    """Returns the name of a folder; the root has none."""
    return visible_path(PurePath(path).name or path)


def file_name(path: str, project: str) -> str:
    """Returns the name of a file with its folder, since many projects have a file of the same name."""
    name = visible_path(PurePath(path).name)
    return tr("{file} of {folder}", file=name, folder=folder_name(project)) if project else name


def origin(server: ServerSnapshot) -> str:
    """Returns where a server's entry is, as the beginning of a sentence."""
    match server.origin:
        case "proposal":
            return tr("A program wants to add this server")
        case "hub":
            return tr("Comes with Tooltray")
        case "project" | "served" if server.file:
            return tr("From {file}", file=file_name(server.file, project_of(server)))
        case _:
            return tr("In settings.json")


def origin_chip(server: ServerSnapshot) -> str:
    """Returns where a server's entry is in one or two words; empty for the settings, the normal case."""
    if not is_of_file(server):
        return ""
    return shortened(folder_name(project_of(server)) if project_of(server) else PurePath(server.file).name, LONGEST_CHIP)


def project_of(server: ServerSnapshot) -> str:
    """Returns the folder of a project's own file, also where all sessions have its servers."""
    return server.project or (str(PurePath(server.file).parent) if server.origin == "project" else "")


def is_of_file(server: ServerSnapshot) -> bool:
    """Returns whether the server's entry is in another file than the settings."""
    return server.origin in ("project", "served")


def change_there(server: ServerSnapshot) -> str:
    """Returns where a server's entry can be changed."""
    file = file_name(server.file, project_of(server))
    if server.origin == "project":
        return tr("Its name, command and variables are in {file}. Changes there apply at once.", file=file)
    return tr("Tooltray was started with {file} and never writes to it. Your changes there apply at once.", file=file)
