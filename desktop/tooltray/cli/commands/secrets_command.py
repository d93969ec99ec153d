"""`tooltray secrets ...`: stores, lists and removes secrets, unlocks them, and chooses where they are kept.

Values are written here and never read back. Other commands use it to store the secrets of servers, after checking that this is possible,
and to remove them with their servers.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from tooltray.cli.arguments import Usage, command
from tooltray.cli.hubs import Hub, any_hub, running_hub
from tooltray.cli.person import ask_for_passphrase, ask_for_secret, ask_for_secrets, confirmed, is_person_there
from tooltray.cli.speech import in_one_line, say, tr
from tooltray.cli.terminal import answer, answer_list, clean_line, count
from tooltray.config.secrets.vaults import PASSPHRASE_VARIABLE, SecretsLocked
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import read_regular
from tooltray.foundation.snapshots.setup import SecretSnapshot, ServerRemoval, StoredSecrets

KEYRING_TIMEOUT_S = None  # the keyring may show a dialog and wait for the user

T = TypeVar("T")


class SecretPlace:
    """The keyring, the encrypted file or the memory of one home. The passphrase of a locked file is asked for once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._passphrase = ""  # for each unstarted hub that this command opens
        self._check: Callable[[], None] = self._first_check

    def ask(self, names: Sequence[str], *, from_stdin: bool = False) -> dict[str, str]:
        """Asks for secrets (see `ask_for_secrets`) after checking that they can be stored.

        Raises:
            TooltrayError: they cannot be stored, or a value is missing.
        """
        if names:
            self.check()
        return ask_for_secrets(names, from_stdin=from_stdin)  # no lock is held while the user types

    def check(self) -> None:
        """Checks once for all secrets of a command that they can be stored: a locked keyring shows one prompt.

        Raises:
            TooltrayError: secrets cannot be stored; the error gives the reason.
        """
        self._check()

    def _first_check(self) -> None:
        self._check = lambda: None
        self._passphrase = os.environ.get(PASSPHRASE_VARIABLE, "")  # the hub of this check removes it
        try:
            self.run(lambda hub: hub.ask(hub.api.secrets.check_secrets(), timeout_s=KEYRING_TIMEOUT_S))
        except TooltrayError as error:
            self._check = partial(_fail, error)
            raise

    def run(self, action: Callable[[Hub], T]) -> T:
        """Runs an action that touches secrets; if the encrypted file is locked, asks for its passphrase and runs the action again.

        The error of a running hub describes how to unlock it. No lock is held while the user types.
        """
        try:
            return self._tried(action)
        except SecretsLocked:
            if chosen_backend(self._home) != "file" or not is_person_there():
                raise
        self._passphrase = ask_for_passphrase(is_new=not self._home.secrets_file.exists())
        return self._tried(action, is_typed=True)

    def _tried(self, action: Callable[[Hub], T], *, is_typed: bool = False) -> T:
        with any_hub(self._home) as hub:
            if is_typed or (self._passphrase and not hub.is_running):
                hub.ask(hub.api.secrets.unlock_secrets(passphrase=self._passphrase))
            return action(hub)


def _fail(error: TooltrayError) -> None:
    raise error


def with_secrets(home: Home, action: Callable[[Hub], T]) -> T:
    """Runs an action that touches secrets, see SecretPlace."""
    return SecretPlace(home).run(action)


def chosen_backend(home: Home) -> str | None:
    """Returns the backend in the settings; None if nothing is chosen. Only reads the file: a running hub is its only writer."""
    try:
        settings = json.loads(read_regular(home.settings))
        kind = settings["secrets"]["backend"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return kind if isinstance(kind, str) else None


NOT_CHOSEN = Phrase("the system's keyring (the default)")
REMOVE = "tooltray secrets remove --unused"
_PLACES = {"keyring": Phrase("the system's keyring"), "file": Phrase("an encrypted file"), "memory": Phrase("memory, until Tooltray ends")}


def declare(parser: Usage) -> None:
    secrets = parser.subcommands()
    setting = command(secrets, "set", tr("store a secret; asks for its value, or reads it from standard input"), set_secret)
    setting.takes("name", "NAME", tr("as settings refer to it: ${secret:NAME}"))
    command(secrets, "list", tr("list the names of the secrets, never their values"), list_secrets)
    removing = command(secrets, "remove", tr("delete a secret"), remove, check=_check)
    removing.takes("name", "NAME", nargs="?")
    removing.flag("--unused", tr("all unused secrets; they are listed first"))
    removing.flag("--yes", tr("with --unused: do not ask"))
    command(secrets, "unlock", tr("give the running Tooltray the passphrase of the encrypted file"), unlock)
    choosing = command(secrets, "backend", tr("show or choose where secrets are kept"), backend)
    text = tr("the system's keyring, an encrypted file, or only until Tooltray ends")
    choosing.add_argument("kind", nargs="?", choices=("keyring", "file", "memory"), help=text)


def _check(usage: Usage, args: argparse.Namespace) -> None:
    if (args.name is None) != args.unused:
        usage.error(tr("give the NAME of a secret, or --unused"))
    if args.yes and not args.unused:
        usage.error(tr("--yes goes with --unused"))


def set_secret(args: argparse.Namespace, home: Home) -> int:
    place = SecretPlace(home)
    place.check()
    value = ask_for_secret(args.name)  # no lock is held: users type slowly
    place.run(lambda hub: hub.ask(hub.api.secrets.set_secret(name=args.name, value=value), timeout_s=KEYRING_TIMEOUT_S))
    stored = tr("Stored. Refer to it in settings as ${{secret:{name}}}. Running servers get it after a restart.", name=args.name)
    return answer(args, {"secret": args.name, "stored": True}, stored)


def list_secrets(args: argparse.Namespace, home: Home) -> int:
    """Lists secrets; with `--json` only the names of the stored ones."""
    if args.json:
        names = with_secrets(home, lambda hub: hub.ask(hub.api.secrets.get_secret_names(), timeout_s=KEYRING_TIMEOUT_S))
        return answer(args, names)
    found = with_secrets(home, _all)
    print(tr("Secrets are kept in {place}.", place=say(_PLACES.get(found.backend, NOT_CHOSEN))))
    empty = tr("No secrets yet. Store one: tooltray secrets set NAME")
    return answer_list(args, found.secrets, (tr("NAME"), tr("STORED"), tr("USED BY")), _row, empty=empty)


def _all(hub: Hub) -> StoredSecrets:
    """Requests the names, too, since that shows a fault of the store."""
    hub.ask(hub.api.secrets.get_secret_names(), timeout_s=KEYRING_TIMEOUT_S)
    return hub.ask(hub.api.secrets.get_secrets(), timeout_s=KEYRING_TIMEOUT_S)


def _row(secret: SecretSnapshot) -> list[str]:
    if secret.kind == "provided":
        return [secret.name, _fetched(secret), ", ".join(secret.used_by) or "-"]
    stored = {True: tr("yes"), False: tr("MISSING"), None: "?"}[secret.is_stored]
    users = {"own": tr("Tooltray itself"), "sign-in": tr("the sign-in to {servers}", servers=", ".join(secret.used_by))}
    listed = users.get(secret.kind) or ", ".join(secret.used_by) or "-"
    perhaps = tr(" (perhaps {servers})", servers=", ".join(secret.perhaps_used_by)) if secret.perhaps_used_by else ""
    return [secret.name, stored, listed + perhaps]


def _fetched(secret: SecretSnapshot) -> str:
    """Describes where a secret comes from, or why it cannot be fetched."""
    if problem := secret.problem:
        return in_one_line(problem.title, problem.message, problem.hint)
    return tr("from {origin}", origin=say(secret.origin))


def remove(args: argparse.Namespace, home: Home) -> int:
    if args.unused:
        return _remove_unused(args, home)
    with_secrets(home, lambda hub: hub.ask(hub.api.secrets.remove_secret(name=args.name), timeout_s=KEYRING_TIMEOUT_S))
    return answer(args, {"secret": args.name, "removed": True}, tr("Deleted {name}.", name=args.name))


def unlock(args: argparse.Namespace, home: Home) -> int:
    """Gives the passphrase to the running hub, which keeps it in memory."""
    kind = chosen_backend(home)
    if kind in ("keyring", "memory"):
        in_place = tr("Secrets are kept in {value}.", value=_PLACES[kind])
        raise TooltrayError(tr("Only the encrypted file is unlocked here"), in_place, tr("Choose it with: tooltray secrets backend file"))
    hub = running_hub(home)
    if hub is None:
        raise TooltrayError(
            tr("Tooltray is not running"), tr("The passphrase is kept only in Tooltray's memory"), tr("Start it: tooltray serve")
        )
    with hub:
        passphrase = ask_for_passphrase(is_new=not home.secrets_file.exists())
        hub.ask(hub.api.secrets.unlock_secrets(passphrase=passphrase), timeout_s=KEYRING_TIMEOUT_S)
    return answer(args, {"unlocked": True}, tr("Unlocked until Tooltray ends."))


def backend(args: argparse.Namespace, home: Home) -> int:
    """Shows or changes where secrets are kept."""
    if args.kind == "file":
        _choose_file(home)
    elif args.kind:
        with_secrets(home, lambda hub: hub.ask(hub.api.secrets.set_secret_backend(kind=args.kind), timeout_s=KEYRING_TIMEOUT_S))
    kind = args.kind or chosen_backend(home)
    return answer(args, {"backend": kind}, tr("Secrets are kept in {value}.", value=_PLACES.get(kind or "", NOT_CHOSEN)))


def _choose_file(home: Home) -> None:
    """Switches to the encrypted file, which is made or opened at once, so that a typing error shows while the user is there.

    Raises:
        TooltrayError: no passphrase was given, or it does not open the existing file; the backend then stays unchanged.
    """
    passphrase = os.environ.get(PASSPHRASE_VARIABLE) or ask_for_passphrase(is_new=not home.secrets_file.exists())
    if not passphrase:
        hint = tr("Type it in a terminal, send it through a pipe, or set {passphrase_variable}", passphrase_variable=PASSPHRASE_VARIABLE)
        raise TooltrayError(tr("No passphrase for the encrypted file"), tr("it was left empty, so nothing was changed"), hint)
    before = chosen_backend(home)
    with any_hub(home) as hub:
        secrets = hub.api.secrets
        hub.ask(secrets.set_secret_backend(kind="file"), timeout_s=KEYRING_TIMEOUT_S)
        try:
            hub.ask(secrets.unlock_secrets(passphrase=passphrase), timeout_s=KEYRING_TIMEOUT_S)
        except TooltrayError:
            kind = before if before in _PLACES else "keyring"
            hub.ask(secrets.set_secret_backend(kind=kind), timeout_s=KEYRING_TIMEOUT_S)
            raise


# unused secrets


def _remove_unused(args: argparse.Namespace, home: Home) -> int:
    """Removes the secrets that no server uses, after a confirmation."""
    unused, removed = with_secrets(home, partial(_look, args))
    if unused and not args.yes:
        if not confirmed(tr("Delete it?") if len(unused) == 1 else tr("Delete all {number}?", number=len(unused)), yes=False):
            print(tr("Nothing was changed."))
            return 0
        removed = with_secrets(home, partial(_remove, names=unused))
    forgot = tr("Deleted {count}.", count=count(len(removed), "secret")) if unused else tr("No unused secrets found.")
    return answer(args, {"removed": removed}, forgot)


def _look(args: argparse.Namespace, hub: Hub) -> tuple[list[str], list[str]]:
    """Returns the unused secrets, and with `--yes` the removed ones, in one step: a passphrase in the environment can be used only once."""
    unused = hub.ask(hub.api.secrets.get_unused_secrets(), timeout_s=KEYRING_TIMEOUT_S)
    if unused and not args.json:
        print(tr("Not used by any known server:"), *(f"  {clean_line(name)}" for name in unused), sep="\n", flush=True)
    return unused, _remove(hub, unused) if args.yes else []


def _remove(hub: Hub, names: list[str]) -> list[str]:
    return hub.ask(hub.api.secrets.remove_unused_secrets(names=names), timeout_s=KEYRING_TIMEOUT_S)


# secrets that are removed with a server


def once_unlocked(removal: ServerRemoval, home: Home) -> ServerRemoval:
    """Asks the user to unlock the secrets, and removes the secrets that a removal had to leave."""
    names = [*removal.secrets, *filter(None, [removal.sign_in])]
    try:
        removed = with_secrets(home, partial(_remove, names=names))
    except TooltrayError as error:
        return ServerRemoval(removal.server, removal.secrets, removal.sign_in, removal.shared, error.problem)
    secrets = tuple(name for name in removed if name != removal.sign_in)
    return ServerRemoval(removal.server, secrets, removal.sign_in, removal.shared)


def going(removal: ServerRemoval) -> list[str]:
    """Describes in sentences which secrets are removed with a server, and which stay."""
    lines = [tr("Its secret {name} was deleted, too.", name=name) for name in removal.secrets]
    lines += [tr("Its sign-in ends.")] if removal.sign_in else []
    return [*lines, *_staying(removal)]


def gone(removal: ServerRemoval) -> Iterator[str]:
    """Yields sentences about the secrets that were removed with a server, and the ones that stay, one per line."""
    if problem := removal.problem:
        for name in removal.secrets:
            yield tr("Its secret {name} may still be stored", name=name)
        why = in_one_line(problem.title, problem.message)
        yield tr("Its secrets could not be deleted ({why}). To delete them later: {remove}", why=why, remove=REMOVE)
    else:
        yield from (tr("Its secret {name} was deleted, too.", name=name) for name in removal.secrets)
        yield from [tr("Its sign-in has ended.")] if removal.sign_in else []
    yield from _staying(removal)


def _staying(removal: ServerRemoval) -> list[str]:
    return [tr("Secret {name} stays: {users}.", name=shared.name, users=_still(shared.users)) for shared in removal.shared]


def _still(users: Sequence[str]) -> str:
    names = ", ".join(users)
    return tr("{users} still uses it", users=names) if len(users) == 1 else tr("{users} still use it", users=names)
