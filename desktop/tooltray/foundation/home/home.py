"""The home: the one folder that holds everything Tooltray keeps, and the names of what is in it.

Above it: all modules that read or write a file of the home. Below it: errors, and one small module per platform. Knows no file's content.
The bridge has its own copy of these rules, which needs the standard library alone; tests/contract/test_bridge_and_hub_agree.py checks that
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
        """The names of files and folders that Tooltray keeps in the root: the first part of each path below."""
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
        """Names, never values: a keyring cannot list its entries."""
        return self.root / "secret-names.json"

    @property
    def run(self) -> Path:
        """Files of a running hub; 0700."""
        return self.root / "run"

    @property
    def socket(self) -> Path:
        """Where bridges connect. It may be outside the home, see above."""
        return user.socket_path(self.root)

    @property
    def control_socket(self) -> Path:
        """Where commands connect; beside the other socket."""
        return user.control_path(self.root)

    @property
    def lock(self) -> Path:
        """Whoever holds the lock on this file is the hub."""
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
        """Which AI clients may connect over HTTP; hashes of their tokens, never tokens."""
        return self.root / "clients.json"

    @property
    def api_tokens(self) -> Path:
        """Which programs may use the REST interface; hashes of their tokens, but for the default one."""
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
        """The consents of a person that hold for longer than one call."""
        return self.root / "grants.json"

    @property
    def audit(self) -> Path:
        """Who allowed what, when and by which way; older ones and the note of the last line stand beside it."""
        return self.root / "audit.jsonl"

    @property
    def passphrase(self) -> Path:
        """A salted hash of what confirms commands where there is no window; never the passphrase."""
        return self.root / "passphrase.json"

    @property
    def started_files(self) -> Path:
        """Copies of files of projects that allowed servers start, as they were when they were allowed."""
        return self.root / "started-files"

    @property
    def server_tasks(self) -> Path:
        """Tasks that servers work on, and which client each is of; neither arguments nor results."""
        return self.root / "server-tasks.json"

    @property
    def results(self) -> Path:
        """Large results that AI clients read page by page; 0700."""
        return self.root / "results"

    @property
    def skills(self) -> Path:
        """What each skill was when it was offered, or when a person last looked at it."""
        return self.root / "skills.json"

    @property
    def told(self) -> Path:
        """Which one-time notices a person has seen."""
        return self.root / "told.json"

    @property
    def window(self) -> Path:
        """How a person uses the window: cards or a table, how it is sorted."""
        return self.root / "window.json"

    @property
    def trust(self) -> Path:
        """Consents to entries of projects' own files; hashes of their content, never the content."""
        return self.root / "trust.json"

    @property
    def inmemory_trust(self) -> Path:
        """Consents to servers that run inside Tooltray; hashes, as in `trust`."""
        return self.root / "inmemory-trust.json"

    @property
    def python(self) -> Path:
        """Packages of a person's own for servers inside a frozen Tooltray, which has no Python that they could be installed into."""
        return self.root / "python"

    @property
    def proposals(self) -> Path:
        """Servers that programs want to add or to change, until a person answers; their secrets are elsewhere."""
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
        """Which extensions of the protocol AI clients have declared."""
        return self.root / "client-extensions.json"

    @property
    def stopped(self) -> Path:
        """Which servers a person has stopped."""
        return self.root / "stopped.json"

    @property
    def registries(self) -> Path:
        """The last measurement of npm registries."""
        return self.root / "registries.json"

    @property
    def registry_copy(self) -> Path:
        """What the registry of MCP servers has, to be searched."""
        return self.root / "registry.db"

    @property
    def sign_ins(self) -> Path:
        """For which servers a sign-in is kept among the secrets; no token."""
        return self.root / "sign-ins.json"

    @property
    def installs(self) -> Path:
        """The installations of Tooltray; in the person's own home alone."""
        return self.root / "installs.json"

    @property
    def bin(self) -> Path:
        """The program that AI clients start."""
        return self.root / "bin"

    @property
    def environment(self) -> Path:
        """Certificates, proxies and package indexes of a person's terminal; no password is among them."""
        return self.root / "environment.json"

    @property
    def feedback(self) -> Path:
        """What models reported and people answered."""
        return self.root / "feedback"

    @property
    def bundles(self) -> Path:
        """Servers that came as bundles, each in a folder of its own."""
        return self.root / "bundles"

    @property
    def confined(self) -> Path:
        """What confined servers may write, each in a folder of its own; 0700."""
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
        """The journal of what happened; SQLite keeps two more files beside it."""
        return self.root / "activity.db"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def watches(self) -> Path:
        """What watched servers did, as the tracer tells it."""
        return self.run / "watches"

    @property
    def server_logs(self) -> Path:
        """What servers wrote to standard error; secrets masked."""
        return self.logs / "servers"

    def prepare(self) -> tuple[Problem, ...]:
        """Makes the root, `run` and the sockets' folder, each 0700, where they are missing.

        Folders that exist are checked, not changed: a home may be `/tmp` by mistake. What has the name of a file of the home and is none
        is renamed.

        Returns:
            What was renamed.

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
        """Lets bridges of older versions find the socket; for the hub, when it listens."""
        user.tell_old_versions(self.root)

    def _set_aside_misplaced(self) -> Iterator[Problem]:
        own = [path for path in self._paths if path.is_relative_to(self.root)]
        folders = sorted(path for path in own if not path.suffix and path != self.http_token)
        of_others = {self.bundles, self.confined, self.python}
        return set_aside_misplaced(self.root, sorted({*own} - {*folders}), folders, [each for each in folders if each not in of_others])

    def remove_sockets(self) -> None:
        """For the hub, when it has ended."""
        user.remove_sockets(self.root)


def find_home(argument: str | None = None, environ: Mapping[str, str] = os.environ) -> Home:
    """The home that a command uses, by the rules at the top of this file. Touches no file.

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
    """The home of a person who asks for no other one; None where nothing says where that person's folder is."""
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
    """What to do when a file of the home cannot be written: by the error's number, which a full or a read-only disk has."""
    return _HINTS.get(error.errno or 0, otherwise)


def how_to_make_writable(folder: Path) -> str:
    """The command that does it on this system."""
    return user.HOW_TO_MAKE_WRITABLE.format(folder=folder)
