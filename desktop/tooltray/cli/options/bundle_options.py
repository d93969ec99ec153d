"""The options of `tooltray bundle`."""

import argparse

from tooltray.cli.options.parsers import Commands, command, group
from tooltray.cli.speech import tr
from tooltray.foundation.phrases import Phrase

SOURCE = Phrase("a .mcpb or .dxt file, or its address")


def declare(commands: Commands) -> None:
    bundles = group(commands, "bundle", tr("servers packed as one file: show, install, update and remove them"))
    command(bundles, "show", tr("say what is in a bundle and what it would run, and install nothing"), "bundle_command:show").add_argument(
        "source", metavar="FILE", help=SOURCE
    )
    installing = command(bundles, "install", tr("install a bundle, or a newer one in the place of an older one"), "bundle_command:install")
    installing.add_argument("source", metavar="FILE", help=SOURCE)
    installing.add_argument("--name", metavar="NAME", default="", help=tr("what the server is called here, or which one is updated"))
    installing.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], type=setting, help=tr("one of its settings; again for several values")
    )
    installing.add_argument("--secret-stdin", action="store_true", help=tr("read the secrets from standard input, one a line"))
    installing.add_argument("--yes", action="store_true", help=tr("do not ask"))
    command(bundles, "list", tr("list the servers that came as bundles"), "bundle_command:list_bundles")
    removing = command(bundles, "remove", tr("remove a bundle's server, its secrets and its files"), "bundle_command:remove")
    removing.add_argument("name", metavar="SERVER")
    removing.add_argument("--yes", action="store_true", help=tr("do not ask"))


def setting(text: str) -> tuple[str, str]:
    key, mark, value = text.partition("=")
    if not key or not mark:
        raise argparse.ArgumentTypeError(tr("KEY=VALUE expected"))
    return key, value
