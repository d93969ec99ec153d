"""What can be typed behind `tooltray clients`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

from tooltray.cli.options import values
from tooltray.cli.options.usage import Commands, command, group

MODES = ("everything", "lazy", "search", "automatic", "default")


def declare(commands: Commands) -> None:
    clients = group(commands, "clients", "how tools are shown to AI clients, and the tokens with which they connect over HTTP")
    token = command(clients, "token", "make a token for an AI client, or a new one in the place of its old one", "http:client_token")
    token.add_argument("name", metavar="NAME", help="by which you know the client again")
    command(clients, "list", "list who has a token, never tokens", "http:list_clients")
    command(clients, "remove", "end a client's token", "http:remove_client").add_argument("name", metavar="NAME")
    command(clients, "modes", "list how tools are shown to each kind of AI client, and why", "views:modes")
    mode = command(clients, "mode", "choose how tools are shown to a kind of AI client, and its profile", "views:mode")
    text = "as `clients modes` says it names itself; '*': all that have no mode of their own"
    mode.add_argument("client", metavar="CLIENT", type=values.some_text, help=text)
    mode.add_argument("mode", metavar="MODE", nargs="?", choices=MODES, help=f"one of: {', '.join(MODES)} (as the servers' settings say)")
    text = "choose which calls of a kind of AI client go through unasked, in the place of the servers' own rules"
    rules = command(clients, "approve", text, "approve:rules", has_json=False)
    rules.add_argument("client", metavar="CLIENT", type=values.some_text, help="as `clients modes` says it names itself")
    rules.add_argument("rules", metavar="RULE", nargs="*", help="as in autoApprove: read, write, all, a tool's name, ...")
    rules.add_argument("--nothing", action="store_true", help="ask about each call")
    rules.add_argument("--default", action="store_true", help="as each server's autoApprove says")
    profile = mode.add_mutually_exclusive_group()
    profile.add_argument("--profile", metavar="NAME", help="that its sessions get unless they ask for another")
    profile.add_argument("--no-profile", action="store_true", help="they get all servers and tools again")
