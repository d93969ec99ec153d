"""The options of `tooltray discover`."""

from tooltray.cli.options import values
from tooltray.cli.options.parsers import Commands, Usage, command, group
from tooltray.cli.speech import tr

HITS = 20


def declare(commands: Commands) -> None:
    discover = group(commands, "discover", tr("find servers in the official registry, and among well-known ones"))
    search = command(discover, "search", tr("search the registry, in the copy on this disk"), "discover_command:search")
    search.add_argument("text", metavar="TEXT", nargs="*", help=tr("words or their beginnings; none: all servers"))
    search.add_argument("-n", "--lines", metavar="COUNT", type=values.line_count, default=HITS, help=tr("default: {value}", value=HITS))
    show = command(discover, "show", tr("show one server of the registry, and what it asks for"), "discover_command:show")
    show.add_argument("name", metavar="NAME", help=tr("as `discover search` shows it, such as io.github.owner/server"))
    show.add_argument("--version", metavar="VERSION", default="", help=tr("default: the latest"))
    add = command(discover, "add", tr("add a server of the registry, pinned to its version; it is shown first"), "discover_command:add")
    add.add_argument("name", metavar="NAME", help=tr("as `discover search` shows it"))
    add.add_argument("--version", metavar="VERSION", default="", help=tr("default: the latest"))
    add.add_argument("--option", metavar="ID", default="", help=tr("which way to have it (default: the first that works here)"))
    _declare_adding(add)
    add.add_argument("--dry-run", action="store_true", help=tr("show it, and add nothing"))
    command(discover, "starters", tr("list well-known servers"), "discover_command:starters")
    start = command(discover, "start", tr("add a well-known server; it is shown first"), "discover_command:add_starter")
    start.add_argument("id", metavar="ID", help=tr("as `discover starters` shows it"))
    _declare_adding(start)
    command(discover, "refresh", tr("ask the registry for what has changed"), "discover_command:refresh")
    command(discover, "updates", tr("list servers whose registry has a newer version"), "discover_command:updates")
    update = command(discover, "update", tr("pin a server to its newest version"), "discover_command:update")
    update.add_argument("server", metavar="SERVER", help=tr("its name here"))
    update.add_argument("--yes", action="store_true", help=tr("do not ask"))


def _declare_adding(add: Usage) -> None:
    text = tr("a value that it asks for; may be given several times, also for one key that takes several. Secrets are asked for")
    add.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], type=values.field_value, dest="values", help=text)
    add.add_argument("--name", metavar="NAME", default="", dest="server", help=tr("its name here (default: made of its own)"))
    add.add_argument("--yes", action="store_true", help=tr("do not ask whether to add it"))
