"""What can be typed behind `tooltray secrets`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

import argparse

from tooltray.cli.options.usage import Commands, Usage, command, group


def declare(commands: Commands) -> None:
    secrets = group(commands, "secrets", "keep API keys and passwords out of the settings")
    setting = command(secrets, "set", "store a secret; its value is asked for, or read from standard input", "secrets:set_secret")
    setting.add_argument("name", metavar="NAME", help="as settings refer to it: ${secret:NAME}")
    command(secrets, "list", "list the names of the secrets, never their values", "secrets:list_secrets")
    removing = command(secrets, "remove", "forget a secret", "secrets:remove")
    removing.add_argument("name", nargs="?", metavar="NAME")
    removing.add_argument("--unused", action="store_true", help="all that no server uses; they are shown first")
    removing.add_argument("--yes", action="store_true", help="with --unused: do not ask")
    command(secrets, "unlock", "give the running hub the passphrase of the encrypted file", "secrets:unlock")
    backend = command(secrets, "backend", "show or choose where secrets are kept", "secrets:backend")
    backend.add_argument(
        "kind", nargs="?", choices=("keyring", "file", "memory"), help="the system's keyring, an encrypted file, or only until the hub ends"
    )


def check_remove(usage: Usage, args: argparse.Namespace) -> None:
    if (args.name is None) != args.unused:
        usage.error("give the NAME of a secret, or --unused")
    if args.yes and not args.unused:
        usage.error("--yes goes with --unused")
