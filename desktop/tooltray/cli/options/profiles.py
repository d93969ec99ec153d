"""What can be typed behind `tooltray profiles`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

from tooltray.cli.options.usage import Commands, command, group


def declare(commands: Commands) -> None:
    profiles = group(commands, "profiles", "named sets of servers and tools")
    command(profiles, "list", "list the profiles", "profiles:list_profiles")
    setting = command(profiles, "set", "make a profile, or another one in its place", "profiles:set_profile")
    setting.add_argument("name", metavar="NAME")
    text = "a server that is in it; '*', or no --server and no --tool: all are"
    setting.add_argument("--server", metavar="SERVER", action="append", default=[], help=text)
    setting.add_argument(
        "--tool",
        metavar=("SERVER", "TOOL"),
        nargs=2,
        action="append",
        default=[],
        help="a tool that is in it, by the server's own name for it, and its server with it; of a server of which none is given, all are",
    )
    setting.add_argument("--description", metavar="TEXT", default="")
    command(profiles, "remove", "remove a profile", "profiles:remove").add_argument("name", metavar="NAME")
