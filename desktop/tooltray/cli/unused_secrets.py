"""The words in which the command line says what goes with a server among the secrets, and `tooltray secrets remove --unused`.

Above it: the commands of servers and secrets, and the doctor. Below it: a hub, or the settings where none runs.
"""

import argparse
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from tooltray.cli.confirm import confirmed
from tooltray.cli.secrets import KEYRING_TIMEOUT_S, with_secrets
from tooltray.cli.terminal import clean_line, count, print_json
from tooltray.control.control_client import Hub
from tooltray.errors import TooltrayError
from tooltray.home.home import Home
from tooltray.phrases import as_json

REMOVE = "tooltray secrets remove --unused"


def remove_unused(args: argparse.Namespace, home: Home) -> int:
    """Forgets, after a yes, the secrets that no server uses."""
    unused, removed = with_secrets(home, partial(_look, args))
    if unused and not args.yes:
        if not confirmed(f"Forget {'it' if len(unused) == 1 else f'all {len(unused)}'}?", yes=False):
            print("Nothing was changed.")
            return 0
        removed = with_secrets(home, partial(_remove, names=unused))
    if args.json:
        print_json({"removed": removed})
    else:
        print(f"Forgot {count(len(removed), 'secret')}." if unused else "Every secret is used, or may be.")
    return 0


def _look(args: argparse.Namespace, hub: Hub) -> tuple[list[str], list[str]]:
    """What is unused, and what of it was removed, where a yes came with the command: a passphrase of the environment is for one look."""
    unused = hub.call("get_unused_secrets", timeout_s=KEYRING_TIMEOUT_S)
    if unused and not args.json:
        print("No server that is known here uses:", *(f"  {clean_line(name)}" for name in unused), sep="\n", flush=True)
    return unused, _remove(hub, unused) if args.yes else []


def _remove(hub: Hub, names: list[str]) -> list[str]:
    removed: list[str] = hub.call("remove_unused_secrets", timeout_s=KEYRING_TIMEOUT_S, names=names)
    return removed


def once_unlocked(removal: dict[str, Any], home: Home) -> dict[str, Any]:
    """What a removal has left because the secrets were locked is removed once a person has unlocked them."""
    names = [*removal["secrets"], *filter(None, [removal["sign_in"]])]
    try:
        removed = with_secrets(home, partial(_remove, names=names))
    except TooltrayError as error:
        return removal | {"problem": as_json(error.problem)}
    return removal | {"problem": None, "secrets": [name for name in removed if name != removal["sign_in"]]}


def going(removal: Mapping[str, Any]) -> list[str]:
    """What goes with a server that is to be removed, and what stays: sentences."""
    lines = [f"Its secret {name} is removed, too." for name in removal["secrets"]]
    lines += ["Its sign-in ends."] if removal["sign_in"] else []
    return [*lines, *_staying(removal)]


def gone(removal: Mapping[str, Any]) -> Iterator[str]:
    """The same of one that was removed, each a line of its own."""
    if problem := removal["problem"]:
        for name in removal["secrets"]:
            yield f"Its secret {name} may still be stored"
        why = f"{problem['title']}: {problem['message']}".removesuffix(": ")
        yield f"Its secrets could not be removed ({why}); later: {REMOVE}"
    else:
        yield from (f"Its secret {name} is removed, too." for name in removal["secrets"])
        yield from ["Its sign-in has ended."] if removal["sign_in"] else []
    yield from _staying(removal)


def _staying(removal: Mapping[str, Any]) -> list[str]:
    return [f"Secret {shared['name']} stays: {_still(shared['users'])}." for shared in removal["shared"]]


def _still(users: list[str]) -> str:
    return f"{', '.join(users)} still {'uses' if len(users) == 1 else 'use'} it"
