"""The home: the one folder that holds everything Tooltray stores, and the names of its files.

The bridge has its own copy of these rules, which uses only the standard library; tests/contract/test_bridge_and_hub_agree.py checks that
both agree. The rules, in full:

- The root is the argument (`--home`), else TOOLTRAY_HOME, else `.tooltray` in the user's folder; an empty string counts as absent.
- The user's folder is HOME if that is an absolute path, else the one in the user database; on Windows it is USERPROFILE.
- `~` and a leading `~/` of argument and TOOLTRAY_HOME stand for the user's folder (configs of AI clients have no shell to expand them).
- The root is made absolute and tidy without looking at the disk (`os.path.abspath`); links stay as they are.
- The socket of bridges is `run/hub.sock`; if that has more than 100 bytes, it is outside the home: socket_place has the rules.
  `control.sock` for commands is in the same folder; a bridge never looks for it.
- On Windows both are named pipes: user_windows has their names.
"""

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.home.misplaced_files import set_aside_misplaced
from tooltray.foundation.phrases import Phrase

if sys.platform == "win32":  # pragma: no cover - one branch per platform
    from tooltray.foundation.home import user_windows as user
else:
    from tooltray.foundation.home import user_posix as user

ANOTHER_HOME = Phrase("Choose another folder with --home or TOOLTRAY_HOME")

_HINTS = {
    errno.EROFS: ANOTHER_HOME,
    errno.ENOSPC: "Free some space on that disk",
    errno.EDQUOT: "Free some space: your quota on that disk is used up",
}


class Home(msgspec.Struct, frozen=True):
    """The paths in one home. Making a `Home` touches nothing; `prepare` makes the folders.

    Attributes:
        root: the folder itself, absolute.
    """

    root: Path

    @property
    def names_in_root(self) -> frozenset[str]:
        """The names of files and folders that Tooltray stores in the root: the first part of each path below."""
        return frozenset(path.relative_to(self.root).parts[0] for path in self._paths if path.is_relative_to(self.root))

    @property
    def _paths(self) -> list[Path]:
        """All paths below."""
        others = ("names_in_root", "_paths")
        return [getattr(self, name) for name, member in vars(Home).items() if isinstance(member, property) and name not in others]

    @property
    def settings(self) -> Path:
        return self.root / "settings.json"

    @property
    def secrets_file(self) -> Path:
        """The encrypted secrets of the backend `file`."""
        return self.root / "secrets.enc"

    @property
    def secret_names(self) -> Path:
        """The names of secrets, never values: a keyring cannot list its entries."""
        return self.root / "secret-names.json"

    @property
    def run(self) -> Path:
        """Files of a running hub; 0700."""
        return self.root / "run"

    @property
    def socket(self) -> Path:
        """The socket that bridges connect to. It may be outside the home: see the rules at the top of this module."""
        return user.socket_path(self.root)

    @property
    def control_socket(self) -> Path:
        """The socket that commands connect to, in the same folder as the other."""
        return user.control_path(self.root)

    @property
    def lock(self) -> Path:
        """The file whose lock makes a process the hub."""
        return self.run / "hub.lock"

    @property
    def hub_json(self) -> Path:
        return self.run / "hub.json"

    @property
    def desktop_json(self) -> Path:
        return self.run / "desktop.json"

    @property
    def start_lock(self) -> Path:
        """Held while a bridge starts a hub, so that two bridges start one."""
        return self.run / "start.lock"

    @property
    def clients(self) -> Path:
        """The AI clients that may connect over HTTP; hashes of their tokens, never tokens."""
        return self.root / "clients.json"

    @property
    def api_tokens(self) -> Path:
        """The programs that may use the REST interface; hashes of their tokens, except for the default one."""
        return self.root / "api-tokens.json"

    @property
    def client_changes(self) -> Path:
        """Changes of AI clients' files, and the files as they were before."""
        return self.root / "client-changes"

    @property
    def homes(self) -> Path:
        """Homes besides the default one in which a bridge may start a hub."""
        return self.root / "homes.json"

    @property
    def names(self) -> Path:
        return self.root / "names.json"

    @property
    def grants(self) -> Path:
        """The approvals that last longer than one call."""
        return self.root / "grants.json"

    @property
    def audit(self) -> Path:
        """The audit trail: every approval and refusal, with its time and the way it was given. Older files and the note about the last line
        are beside it.
        """
        return self.root / "audit.jsonl"

    @property
    def passphrase(self) -> Path:
        """A salted hash of the passphrase that confirms commands without a window; never the passphrase."""
        return self.root / "passphrase.json"

    @property
    def started_files(self) -> Path:
        """Copies of project files that approved servers start, as they were at the approval."""
        return self.root / "started-files"

    @property
    def server_tasks(self) -> Path:
        """Tasks that servers work on, and the client of each; neither arguments nor results."""
        return self.root / "server-tasks.json"

    @property
    def results(self) -> Path:
        """Large results that AI clients read page by page; 0700."""
        return self.root / "results"

    @property
    def skills(self) -> Path:
        """Each skill as it was when it was first offered, or when the user last reviewed it."""
        return self.root / "skills.json"

    @property
    def told(self) -> Path:
        """The one-time notices that the user has seen."""
        return self.root / "told.json"

    @property
    def window(self) -> Path:
        """The user's choices in the window: cards or a table, the sort order."""
        return self.root / "window.json"

    @property
    def trust(self) -> Path:
        """Approvals of entries in projects' own files; hashes of their content, never the content."""
        return self.root / "trust.json"

    @property
    def inmemory_trust(self) -> Path:
        """Approvals of servers that run inside Tooltray; hashes, as in `trust`."""
        return self.root / "inmemory-trust.json"

    @property
    def python(self) -> Path:
        """The user's own packages for servers inside a frozen Tooltray, which has no Python into which they could be installed."""
        return self.root / "python"

    @property
    def proposals(self) -> Path:
        """Servers that programs want to add or change, until the user answers; their secrets are stored elsewhere."""
        return self.root / "proposals.json"

    @property
    def http_token(self) -> Path:
        """The default token of the REST interface; 0600."""
        return self.run / "http-token"

    @property
    def eras(self) -> Path:
        return self.root / "eras.json"

    @property
    def client_extensions(self) -> Path:
        """The protocol extensions that AI clients have declared."""
        return self.root / "client-extensions.json"

    @property
    def stopped(self) -> Path:
        """The servers that the user has stopped."""
        return self.root / "stopped.json"

    @property
    def registries(self) -> Path:
        """The last measurement of npm registries."""
        return self.root / "registries.json"

    @property
    def registry_copy(self) -> Path:
        """A searchable copy of the registry of MCP servers."""
        return self.root / "registry.db"

    @property
    def sign_ins(self) -> Path:
        """The servers for which a sign-in is stored among the secrets; no token."""
        return self.root / "sign-ins.json"

    @property
    def installs(self) -> Path:
        """The installations of Tooltray; only in the user's default home."""
        return self.root / "installs.json"

    @property
    def bin(self) -> Path:
        """The program that AI clients start."""
        return self.root / "bin"

    @property
    def environment(self) -> Path:
        """Certificates, proxies and package indexes from the user's terminal; no password is among them."""
        return self.root / "environment.json"

    @property
    def feedback(self) -> Path:
        """Reports of models, and the user's answers."""
        return self.root / "feedback"

    @property
    def bundles(self) -> Path:
        """Servers that came as bundles, each in a folder of its own."""
        return self.root / "bundles"

    @property
    def confined(self) -> Path:
        """The folders that sandboxed servers may write to, one for each; 0700."""
        return self.root / "confined"

    @property
    def catalogue(self) -> Path:
        return self.root / "catalogue"

    @property
    def history(self) -> Path:
        """Versions of the settings and of projects' files from before changes by Tooltray; without secrets."""
        return self.root / "history"

    @property
    def activity(self) -> Path:
        """The journal; SQLite keeps two more files beside it."""
        return self.root / "activity.db"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def watches(self) -> Path:
        """The reports of the tracer about watched servers."""
        return self.run / "watches"

    @property
    def server_logs(self) -> Path:
        """The standard error output of servers; secrets masked."""
        return self.logs / "servers"

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

    def tell_old_versions(self) -> None:
        """Makes the socket findable for bridges of older versions; for the hub, once it listens."""
        user.tell_old_versions(self.root)

    def _set_aside_misplaced(self) -> Iterator[Problem]:
        own = [path for path in self._paths if path.is_relative_to(self.root)]
        folders = sorted(path for path in own if not path.suffix and path != self.http_token)
        of_others = {self.bundles, self.confined, self.python}
        return set_aside_misplaced(self.root, sorted({*own} - {*folders}), folders, [each for each in folders if each not in of_others])

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
            "{another_home}, or make it yours alone: {format}",
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
