"""`tooltray passphrase ...`: the passphrase that confirms commands on computers without a window. It is never an argument of a command."""

import argparse

from tooltray.cli.hubs import any_hub
from tooltray.cli.parsers import Usage, command
from tooltray.cli.person import ask_for_new_passphrase, ask_to_confirm, check_terminal
from tooltray.cli.speech import tr
from tooltray.cli.terminal import answer
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home


def declare(parser: Usage) -> None:
    lost = tr("If it is lost: end the hub (tooltray stop), remove passphrase.json in ~/.tooltray, and set a new one")
    parser.epilog, passphrase = lost, parser.subcommands()
    about = tr("set it, or another one; the one before is asked for")
    command(passphrase, "set", about, set_passphrase, has_json=False).epilog = lost
    command(passphrase, "remove", tr("remove it"), remove_passphrase, has_json=False).epilog = lost
    command(passphrase, "check", tr("say whether one is set, and whether you know it"), check_passphrase).epilog = lost


def set_passphrase(args: argparse.Namespace, home: Home) -> int:
    """Sets the passphrase; the hub asks for the current one, if there is one, or in the window where a desktop runs."""
    check_terminal(tr("Setting a passphrase"))
    with any_hub(home) as hub:
        state = hub.ask(hub.api.confirmations.get_passphrase_state())
        if state.is_set:
            print(tr("A passphrase is set. Type a new one, and then confirm it."))
        hub.ask(hub.api.confirmations.set_passphrase(passphrase=ask_for_new_passphrase()))
    print(tr("Set. Where no window of Tooltray runs, commands that allow something ask for it."))
    print(tr("It cannot be shown again. If it is lost: tooltray passphrase --help"))
    return 0


def remove_passphrase(args: argparse.Namespace, home: Home) -> int:
    check_terminal(tr("Removing the passphrase"))
    with any_hub(home) as hub:
        if not hub.ask(hub.api.confirmations.get_passphrase_state()).is_set:
            return answer(args, {"is_set": False}, tr("No passphrase is set."))
        hub.ask(hub.api.confirmations.remove_passphrase())
    print(tr("Removed. Commands that allow something are confirmed at the terminal again."))
    return 0


def check_passphrase(args: argparse.Namespace, home: Home) -> int:
    """Reports whether one is set; at a terminal also whether the user knows it."""
    with any_hub(home) as hub:
        state = hub.ask(hub.api.confirmations.get_passphrase_state())
        if args.json or not state.is_set:
            return answer(args, state, tr("No passphrase is set. Set one with: tooltray passphrase set"))
        nobody = TooltrayError(tr("A passphrase is set"), tr("nobody is there to type it"))
        hub.ask(hub.api.confirmations.confirm_with_passphrase(passphrase=ask_to_confirm(nobody)))
    print(tr("This is the passphrase."))
    return 0
