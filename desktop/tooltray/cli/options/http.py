"""What can be typed behind `tooltray http`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

import argparse

from tooltray.cli.options import values
from tooltray.cli.options.usage import Commands, Usage, command, group


def declare(commands: Commands) -> None:
    http = group(commands, "http", "let AI clients connect over HTTP")
    on = command(http, "on", "open the endpoints, now and whenever a hub runs", "http:on")
    on.add_argument("--port", metavar="PORT", type=values.port, help="where, from now on; 0: any that is free")
    command(http, "off", "close them", "http:off")
    command(http, "status", "say whether and where they are open", "http:status")
    api = group(http, "api", "let other programs do over HTTP what you can do here (REST)")
    api_on = command(api, "on", "switch it on, and HTTP too if it is off", "http:api_on")
    text = "make a token whose holder may also approve calls, trust servers and allow folders; --no-trusted: no token may any more"
    api_on.add_argument("--trusted", action=argparse.BooleanOptionalAction, help=text)
    command(api, "off", "switch it off; HTTP stays as it is", "http:api_off")
    token = command(api, "token", "print the default token, which stays the same, or make one with a name, shown once", "http:api_token")
    token.add_argument("name", metavar="NAME", nargs="?", type=values.some_text, help="of the program that gets it")
    scopes = "what it may: read (look), call (and call tools) or manage (and change things; this is the default)"
    token.add_argument("--scope", choices=("read", "call", "manage"), help=scopes)
    token.add_argument("--for", dest="duration", metavar="TIME", type=values.time, help="for so long: 90s, 30m, 8h or 30d")
    token.add_argument("--trusted", action="store_true", help="it may also approve calls, trust servers and allow folders")
    command(api, "tokens", "list the tokens", "http:api_tokens")
    revoke = command(api, "revoke", "end one of them", "http:api_revoke")
    revoke.add_argument("name", metavar="NAME", type=values.some_text)
    command(api, "rotate", "make another default token, and print it", "http:api_rotate")


def check(usage: Usage, args: argparse.Namespace) -> None:
    if not args.name and not args.trusted and (args.scope or args.duration):
        usage.error("--scope and --for go with NAME: the default token may manage, and lasts")
    if args.trusted and args.scope not in (None, "manage"):
        usage.error("--trusted goes with the scope manage")
