"""The home: the one folder that holds everything Tooltray stores, and the names of its files.

The bridge has its own copy of these rules, which uses only the standard library; tests/contract/test_bridge_and_hub_agree.py checks that
both agree. The rules, in full:

- The root is the argument (`--home`), else TOOLTRAY_HOME, else `.tooltray` in the user's folder; an empty string counts as absent.
- The user's folder is HOME if that is an absolute path, else the one in the user database; on Windows it is USERPROFILE.
- `~` and a leading `~/` of argument and TOOLTRAY_HOME stand for the user's folder (configs of AI clients have no shell to expand them).
- The root is made absolute and tidy without looking at the disk (`os.path.abspath`); links stay as they are.
- The socket of bridges is `run/hub.sock`; if that has more than 100 bytes, it is outside the home: user_posix has the rules.
  `control.sock` for commands is in the same folder; a bridge never looks for it.
- On Windows both are named pipes: user_windows has their names.
"""

import contextlib
import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.atomic_file import BROKEN, set_aside, write_atomically
from tooltray.foundation.phrases import Phrase

if sys.platform == "win32":  # pragma: no cover - one branch per platform
    from tooltray.foundation.home import user_windows as user
else:
    from tooltray.foundation.home import user_posix as user

ANOTHER_HOME = Phrase("Choose another folder with --home or TOOLTRAY_HOME")
NAME_LENGTH = 40  # characters of a server's name in a file's, so that a person finds it; the hash tells servers apart
_HINTS = {
    errno.EROFS: ANOTHER_HOME,
    errno.ENOSPC: "Free some space on that disk",
    errno.EDQUOT: "Free some space: your quota on that disk is used up",
}
REMOVED = """\
Tooltray was uninstalled here. This file keeps AI clients that still have its entry from starting it.
It goes when you start or install Tooltray again; delete it with its folder once the program is removed, too.
"""
_MISPLACED = Phrase("Something that is not a file of Tooltray was in the place of one")
_NOWHERE = Phrase("it is a link that leads nowhere")


class InHome:
    """A file with a fixed name in the home; as an attribute of a Home, its path."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, home: "Home", owner: type) -> Path:
        return home.root / self.name


class FolderInHome(InHome):
    """A folder with a fixed name in the home. `is_ours`: every file in it is Tooltray's."""

    def __init__(self, name: str, *, is_ours: bool = True) -> None:
        super().__init__(name)
        self.is_ours = is_ours


class Home(msgspec.Struct, frozen=True):
    """The paths in one home. Making a `Home` touches nothing; `prepare` makes the folders.

    Attributes:
        root: the folder itself, absolute.
    """

    root: Path

    settings = InHome("settings.json")
    secrets_file = InHome("secrets.enc")  # the encrypted secrets of the backend `file`
    secret_names = InHome("secret-names.json")  # the names of secrets, never values: a keyring cannot list its entries
    run = FolderInHome("run")  # files of a running hub; 0700
    lock = InHome("run/hub.lock")  # the file whose lock makes a process the hub
    hub_json = InHome("run/hub.json")
    desktop_json = InHome("run/desktop.json")
    start_lock = InHome("run/start.lock")  # held while a bridge starts a hub, so that two bridges start one
    clients = InHome("clients.json")  # the AI clients that may connect over HTTP; hashes of their tokens, never tokens
    api_tokens = InHome("api-tokens.json")  # the programs that may use the REST interface; of all but the default token only hashes
    client_changes = FolderInHome("client-changes")  # changes of AI clients' files, and the files as they were before
    homes = InHome("homes.json")  # homes besides the default one in which a bridge may start a hub
    names = InHome("names.json")
    grants = InHome("grants.json")  # the approvals that last longer than one call
    audit = InHome("audit.jsonl")  # the audit trail of all decisions; older files and the note about the last line are beside it
    passphrase = InHome("passphrase.json")  # a salted hash of the passphrase that confirms commands without a window; never the passphrase
    started_files = FolderInHome("started-files")  # copies of project files that approved servers start, as they were at the approval
    server_tasks = InHome("server-tasks.json")  # tasks that servers work on, and the client of each; neither arguments nor results
    results = FolderInHome("results")  # large results that AI clients read page by page; 0700
    skills = InHome("skills.json")  # each skill as it was when it was first offered, or when the user last reviewed it
    told = InHome("told.json")  # the one-time notices that the user has seen
    window = InHome("window.json")  # the user's choices in the window: cards or a table, the sort order
    trust = InHome("trust.json")  # approvals of entries in projects' own files; hashes of their content, never the content
    inmemory_trust = InHome("inmemory-trust.json")  # approvals of servers that run inside Tooltray; hashes, as in `trust`
    python = FolderInHome("python", is_ours=False)  # the user's packages for servers inside a frozen Tooltray, which has no Python for them
    proposals = InHome("proposals.json")  # servers that programs want to add or change, until the user answers; no secrets
    http_token = InHome("run/http-token")  # the default token of the REST interface; 0600
    eras = InHome("eras.json")
    client_extensions = InHome("client-extensions.json")  # the protocol extensions that AI clients have declared
    renaming = InHome("renaming.json")  # the old and the new name of a server that is being renamed
    stopped = InHome("stopped.json")  # the servers that the user has stopped
    registries = InHome("registries.json")  # the last measurement of npm registries
    registry_copy = InHome("registry.db")  # a searchable copy of the registry of MCP servers
    releases = InHome("releases.json")  # the last list of Tooltray's releases, if the user has it read
    sign_ins = InHome("sign-ins.json")  # the servers for which a sign-in is stored among the secrets; no token
    installs = InHome("installs.json")  # the installations of Tooltray; only in the user's default home
    removed = InHome("removed")  # left by an uninstall: bridges start no hub until the user starts or installs Tooltray again
    bin = FolderInHome("bin")  # the program that AI clients start
    environment = InHome("environment.json")  # certificates, proxies and package indexes from the user's terminal; no passwords
    feedback = FolderInHome("feedback")  # reports of models, and the user's answers
    bundles = FolderInHome("bundles", is_ours=False)  # servers that came as bundles, each in a folder of its own
    confined = FolderInHome("confined", is_ours=False)  # the folders that sandboxed servers may write to, one for each; 0700
    catalogue = FolderInHome("catalogue")
    history = FolderInHome("history")  # versions of the settings and of projects' files from before changes by Tooltray; without secrets
    first_answers = InHome("first-answers")  # the answers with which sessions begin, for bridges that come before the next hub
    activity = InHome("activity.db")  # the journal; SQLite keeps two more files beside it
    logs = FolderInHome("logs")
    watches = FolderInHome("run/watches")  # the reports of the tracer about watched servers
    server_logs = FolderInHome("logs/servers")  # the standard error output of servers; secrets masked

    @property
    def socket(self) -> Path:
        """The socket that bridges connect to. It may be outside the home: see the rules at the top of this module."""
        return user.socket_path(self.root)

    @property
    def control_socket(self) -> Path:
        """The socket that commands connect to, in the same folder as the other."""
        return user.control_path(self.root)

    @classmethod
    def _members(cls) -> list[InHome]:
        return [member for member in vars(cls).values() if isinstance(member, InHome)]

    @property
    def names_in_root(self) -> frozenset[str]:
        """The names of files and folders that Tooltray stores in the root: the first part of each path above."""
        return frozenset(member.name.partition("/")[0] for member in self._members())

    def prepare(self) -> tuple[Problem, ...]:
        """Makes the root, `run` and the sockets' folder, each 0700, if they are missing.

        Folders that exist are checked, not changed: a home may be `/tmp` by mistake. Anything else that has the name of a file or folder of
        the home is renamed.

        Returns:
            The items that were renamed.

        Raises:
            TooltrayError: a folder cannot be made, is not a folder, or other users could write into it.
        """
        _make_private(self.root)
        misplaced = tuple(self._set_aside_misplaced())
        _make_private(self.run)
        try:
            user.make_socket_folder(self.root)
        except OSError as error:
            raise _cannot_use(error.filename or self.run, error) from error
        return misplaced

    def _set_aside_misplaced(self) -> Iterator[Problem]:
        """Renames anything else that has the name of a file or folder of the home: a pipe, a device, a folder, a broken link.

        Opening a pipe would wait for its other end, and content that Tooltray did not write must not be overwritten. A link to a file
        counts as the file, even if the file does not exist yet. Yields each item that was renamed, and its new name.
        """
        folders = sorted((self.root / each.name, each.is_ours) for each in self._members() if isinstance(each, FolderInHome))
        files = [self.root / each.name for each in self._members() if not isinstance(each, FolderInHome)]
        sockets = [path for path in (self.socket, self.control_socket) if path.is_relative_to(self.root)]
        for folder, _ in folders:
            yield from _moved(folder, _what_else(folder, stat.S_ISDIR))
        for file in sorted([*files, *sockets]):
            yield from _moved(file, _what_else(file, _is_no_folder_or_pipe if file in sockets else stat.S_ISREG))
        stems = tuple(each.stem for each in files if each.parent == self.root)
        found = {Path(top, name) for folder, is_ours in folders if is_ours for top, _, names in os.walk(folder) for name in names}
        found |= {self.root / name for name in os.listdir(self.root) if name.startswith(stems)}  # older ones, and notes beside them
        for path in sorted(found - {*files, *sockets}):
            yield from _moved(path, _what_else(path, _is_no_pipe))

    def mark_removed(self) -> None:
        """Leaves the mark that keeps bridges from starting a hub in this home.

        Raises:
            OSError: it cannot be written.
        """
        write_atomically(self.removed, REMOVED.encode())

    def unmark_removed(self) -> None:
        """Deletes that mark, if there is one; for each start by hand. Never raises: a mark that stays only makes bridges refuse."""
        with contextlib.suppress(OSError):
            self.removed.unlink()

    def link_for_old_versions(self) -> None:
        """Makes the socket findable for bridges of older versions; for the hub, once it listens."""
        user.link_for_old_versions(self.root)

    def remove_sockets(self) -> None:
        """Removes the sockets; for the hub, when it has ended."""
        user.remove_sockets(self.root)


def find_home(argument: str | None = None, environ: Mapping[str, str] = os.environ) -> Home:
    """Returns the home that a command uses, by the rules at the top of this module. Touches no file.

    Args:
        argument: the value of `--home`.
        environ: where TOOLTRAY_HOME and HOME are looked up.

    Raises:
        TooltrayError: the user's folder is unknown.
    """
    chosen = argument or environ.get("TOOLTRAY_HOME") or "~/.tooltray"
    if chosen == "~" or chosen.startswith(("~/", f"~{os.sep}")):
        chosen = _user_folder(environ) + chosen[1:]
    return Home(Path(os.path.abspath(chosen)))


def default_home(environ: Mapping[str, str] = os.environ) -> Home | None:
    """Returns the home that is used without `--home` and TOOLTRAY_HOME; None if the user's folder is unknown."""
    try:
        return find_home(None, {name: value for name, value in environ.items() if name != "TOOLTRAY_HOME"})
    except TooltrayError:
        return None


def _user_folder(environ: Mapping[str, str]) -> str:
    folder = environ.get(user.FOLDER_VARIABLE, "")
    if os.path.isabs(folder):
        return folder
    try:
        return user.home_folder()
    except KeyError:
        reason = Phrase("{folder_variable} is not set and the user database does not know this user", folder_variable=user.FOLDER_VARIABLE)
        raise TooltrayError(Phrase("No home folder found"), reason, ANOTHER_HOME) from None


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = user.reason_not_private(folder)
    except OSError as error:
        raise _cannot_use(folder, error) from error
    if reason:
        hint = Phrase(
            "{another_home}, or make it accessible only to you: {format}",
            another_home=ANOTHER_HOME,
            format=user.HOW_TO_MAKE_PRIVATE.format(folder=folder),
        )
        raise TooltrayError(Phrase("Tooltray's folder cannot be used"), f"{folder}: {reason}", hint)


def _cannot_use(folder: Path | str, error: OSError) -> TooltrayError:
    return TooltrayError(Phrase("Tooltray's folder cannot be used"), f"{folder}: {error.strerror}", hint_for(error, ANOTHER_HOME))


def hint_for(error: OSError, otherwise: str) -> str:
    """Returns what to do when a file of the home cannot be written: by the error number of a full or a read-only disk."""
    return _HINTS.get(error.errno or 0, otherwise)


def how_to_make_writable(folder: Path) -> str:
    """Returns this system's command that makes a folder writable."""
    return user.HOW_TO_MAKE_WRITABLE.format(folder=folder)


def _what_else(path: Path, is_right: Callable[[int], bool]) -> str:
    """Returns a description of an item of the wrong kind; empty if the item is of the expected kind, or does not exist."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return _NOWHERE if path.is_symlink() and not Path(os.path.realpath(path)).parent.is_dir() else ""
    except OSError:
        return _NOWHERE if path.is_symlink() else ""
    if is_right(mode):
        return ""
    if stat.S_ISREG(mode):
        return Phrase("it is not a folder")
    return Phrase("it is a folder") if stat.S_ISDIR(mode) else Phrase("it is not a file, but a pipe or a device")


def _is_no_pipe(mode: int) -> bool:
    return not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode))


def _is_no_folder_or_pipe(mode: int) -> bool:
    return _is_no_pipe(mode) and not stat.S_ISDIR(mode)


def _moved(path: Path, reason: str) -> Iterator[Problem]:
    if not reason or BROKEN in path.name:
        return
    aside = set_aside(path)
    if aside == path:
        yield Problem(_MISPLACED, Phrase("{path}: {reason}; it cannot be renamed", path=path, reason=reason), Phrase("Remove it."))
    else:
        yield Problem(_MISPLACED, Phrase("{path}: {reason}; it is now {aside}", path=path, reason=reason, aside=aside))


def file_stem(server: str) -> str:
    """Returns a readable name for files and folders of a server: valid for every server name, and different for any two of them."""
    import hashlib  # loads OpenSSL

    readable = re.sub(r"[^A-Za-z0-9_]+", "-", server)[:NAME_LENGTH].strip("-") or "server"
    return f"{readable}-{hashlib.sha256(server.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
