"""`tooltray secrets ...`: stores, lists and removes secrets, unlocks them, and chooses where they are kept.

Above it: run. Below it: a hub, or the settings where none runs. Values are written here and never read back.
"""

import argparse
import contextlib
import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

from tooltray.cli.hub import hub_or_settings
from tooltray.cli.secret_input import ask_for_passphrase, ask_for_secret, is_person_there
from tooltray.cli.terminal import clean_line, print_json
from tooltray.control.control_client import ControlClient, Hub
from tooltray.errors import TooltrayError
from tooltray.home.home import Home
from tooltray.secrets.secrets import PASSPHRASE_VARIABLE
from tooltray.secrets.vaults import SecretsLocked

KEYRING_TIMEOUT_S = None  # the keyring may show a dialog and wait for the person
NOT_CHOSEN = "the system's keyring (nothing else is chosen)"
_PLACES = {"keyring": "the system's keyring", "file": "an encrypted file", "memory": "memory, until the hub ends"}

T = TypeVar("T")


def set_secret(args: argparse.Namespace, home: Home) -> int:
    value = ask_for_secret(args.name)  # before any lock is held: people type slowly
    _call(home, "set_secret", name=args.name, value=value)
    if args.json:
        print_json({"secret": args.name, "stored": True})
    else:
        print(f"Stored. Settings refer to it as ${{secret:{args.name}}}; servers that run already get it when they start again.")
    return 0


def list_secrets(args: argparse.Namespace, home: Home) -> int:
    names = _call(home, "get_secret_names")
    if args.json:
        print_json(names)
    elif names:
        print("\n".join(clean_line(name) for name in names))
    else:
        print("There are no secrets yet. Store one with: tooltray secrets set NAME")
    return 0


def remove(args: argparse.Namespace, home: Home) -> int:
    if args.unused:
        from tooltray.cli.unused_secrets import remove_unused

        return remove_unused(args, home)
    _call(home, "remove_secret", name=args.name)
    if args.json:
        print_json({"secret": args.name, "removed": True})
    else:
        print(f"Forgot {args.name}.")
    return 0


def unlock(args: argparse.Namespace, home: Home) -> int:
    """Gives the running hub the passphrase; without a hub nothing could keep it."""
    client = ControlClient.connect(home)
    if client is None:
        raise TooltrayError("No hub is running", "The passphrase is kept by the hub alone, in memory", "Start it with: tooltray serve")
    with client:
        passphrase = ask_for_passphrase(is_new=not home.secrets_file.exists())
        client.call("unlock_secrets", timeout_s=KEYRING_TIMEOUT_S, passphrase=passphrase)
    if args.json:
        print_json({"unlocked": True})
    else:
        print("Unlocked until the hub ends.")
    return 0


def backend(args: argparse.Namespace, home: Home) -> int:
    """Shows where secrets are kept, or chooses it."""
    if args.kind == "file":
        _choose_file(home)
    elif args.kind:
        _call(home, "set_secret_backend", kind=args.kind)
    kind = args.kind or chosen_backend(home)
    if args.json:
        print_json({"backend": kind})
    else:
        print(f"Secrets are kept in {_PLACES.get(kind or '', NOT_CHOSEN)}.")
    return 0


def _choose_file(home: Home) -> None:
    """Goes on with the encrypted file, which is made or opened with its passphrase at once: a slip shows while the person is there.

    Raises:
        TooltrayError: no passphrase was given, or it does not open the file that is there; what was chosen before still counts then.
    """
    passphrase = os.environ.get(PASSPHRASE_VARIABLE) or ask_for_passphrase(is_new=not home.secrets_file.exists())
    if not passphrase:
        hint = f"Type it in a terminal, send it through a pipe, or set {PASSPHRASE_VARIABLE}"
        raise TooltrayError("No passphrase for the encrypted file", "It was left empty, and nothing was changed", hint)
    before = chosen_backend(home)
    with contextlib.closing(hub_or_settings(home)) as hub:
        hub.call("set_secret_backend", timeout_s=KEYRING_TIMEOUT_S, kind="file")
        try:
            hub.call("unlock_secrets", timeout_s=KEYRING_TIMEOUT_S, passphrase=passphrase)
        except TooltrayError:
            hub.call("set_secret_backend", timeout_s=KEYRING_TIMEOUT_S, kind=before if before in _PLACES else "keyring")
            raise


def chosen_backend(home: Home) -> str | None:
    """What the settings say; None where nothing is chosen. Reads the file alone: a hub that runs is its only writer."""
    try:
        settings = json.loads(home.settings.read_bytes())
        kind = settings["secrets"]["backend"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return kind if isinstance(kind, str) else None


def with_secrets(home: Home, action: Callable[[Hub], T]) -> T:
    """Runs an action that touches secrets; where the encrypted file is locked, asks for its passphrase and runs the action again.

    A running hub says by itself how it is unlocked. While a person types, no lock is held.
    """
    try:
        with contextlib.closing(hub_or_settings(home)) as hub:
            return action(hub)
    except SecretsLocked:
        if chosen_backend(home) != "file" or not is_person_there():
            raise
    passphrase = ask_for_passphrase(is_new=not home.secrets_file.exists())
    with contextlib.closing(hub_or_settings(home)) as hub:
        hub.call("unlock_secrets", passphrase=passphrase)
        return action(hub)


def _call(home: Home, verb: str, **params: Any) -> Any:
    return with_secrets(home, lambda hub: hub.call(verb, timeout_s=KEYRING_TIMEOUT_S, **params))
