"""Where a server's entry is, in words: the settings, or a file, which is called by its name and its folder. Pure functions of snapshots."""

from pathlib import PurePath

from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr

LONGEST_CHIP = 18  # characters; a card has room for that beside its state and its facts


def visible_path(path: str) -> str:
    """Returns a path to be read: a sign that is not seen, or turns what follows it round, could make it look like another one."""
    return "".join(sign if sign.isprintable() else "?" for sign in path)


def folder_name(path: str) -> str:
    """Returns how people call a folder; the root has no name."""
    return visible_path(PurePath(path).name or path)


def file_name(path: str, project: str) -> str:
    """Returns how a file is called: many projects have one of the same name."""
    name = visible_path(PurePath(path).name)
    return tr("{file} of {folder}", file=name, folder=folder_name(project)) if project else name


def origin(server: ServerSnapshot) -> str:
    """Returns where a server's entry is, as a sentence's beginning."""
    match server.origin:
        case "proposal":
            return tr("A program wants to add this server")
        case "hub":
            return tr("Comes with Tooltray")
        case "project" | "served" if server.file:
            return tr("From {file}", file=file_name(server.file, project_of(server)))
        case _:
            return tr("From the settings")


def origin_chip(server: ServerSnapshot) -> str:
    """Returns the same in one or two words, for what is not the normal case; empty: from the settings."""
    if not is_of_file(server):
        return ""
    name = folder_name(project_of(server)) if project_of(server) else PurePath(server.file).name
    half = LONGEST_CHIP // 2
    return name if len(name) <= LONGEST_CHIP else f"{name[:half]}…{name[-half:]}"


def project_of(server: ServerSnapshot) -> str:
    """Returns the folder of a project's own file, also where all sessions have its servers."""
    return server.project or (str(PurePath(server.file).parent) if server.origin == "project" else "")


def is_of_file(server: ServerSnapshot) -> bool:
    """Returns whether the server's entry is in another file than the settings."""
    return server.origin in ("project", "served")


def change_there(server: ServerSnapshot) -> str:
    """Returns where what a server is can be changed."""
    file = file_name(server.file, project_of(server))
    if server.origin == "project":
        return tr("Its name, command and variables are in {file}. Changes there apply at once.", file=file)
    return tr("Tooltray was started with {file} and never writes to it. Your changes there apply at once.", file=file)
