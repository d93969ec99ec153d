"""Files with servers in them: their content, their errors, and the effect of reading them again."""

import msgspec

from tooltray.foundation.errors import Problem


class FileProblem(msgspec.Struct, frozen=True):
    """An error in a file with servers in it."""

    problem: Problem
    line: int = 0  # from 1; 0: the whole file, or unknown
    entry: str = ""  # the server of the file that is not used; empty: the file as a whole


class FileEntrySnapshot(msgspec.Struct, frozen=True):
    """One server in a file."""

    name: str  # in the file
    server: str  # how it is called here; empty where it is not used
    state: str  # "used", "waits" (for a person's yes), "changed" (what was trusted goes on, the new content waits), "broken" or "off"
    line: int = 0  # from 1


class ServerFileSnapshot(msgspec.Struct, frozen=True):
    """One file that servers come from, as it was last read."""

    path: str  # absolute
    kind: str  # "settings", "mcp.json" (of a project) or "tbxark"
    exists: bool = True
    project: str = ""  # of a project's own file: its folder
    is_for_all: bool = True  # False: sessions that work on this project alone have its servers
    entries: tuple[FileEntrySnapshot, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    url: str = ""  # of the endpoint that the file asks for, if it is open


class ReloadChange(msgspec.Struct, frozen=True):
    """One change that reading the files again would make, or made."""

    kind: str  # "add", "restart", "change" (of what runs on), "remove", "wait" (for a yes), "keep" (file or entry is broken) or "setting"
    name: str  # of the server, here; of a setting its path, as in "publish.naming"
    file: str  # absolute
    detail: str = ""  # in words; no secret is in it
