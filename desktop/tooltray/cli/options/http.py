"""What can be typed behind `tooltray http`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

import argparse

from tooltray.cli.options import values
from tooltray.cli.options.usage import Commands, command, group


def declare(commands: Commands) -> None:
    http = group(commands, "http", "let AI clients connect over HTTP")
    on = command(http, "on", "open the endpoints, now and whenever a hub runs", "http:on")
    on.add_argument("--port", metavar="PORT", type=values.port, help="where, from now on; 0: any that is free")
    command(http, "off", "close them", "http:off")
    command(http, "status", "say whether and where they are open", "http:status")
    api = group(http, "api", "let other programs do over HTTP what you can do here (REST)")
    api_on = command(api, "on", "switch it on, and HTTP too if it is off", "http_api:on")
    text = "whether they may also approve calls, trust projects and allow folders (without either: as before)"
    api_on.add_argument("--trusted", action=argparse.BooleanOptionalAction, help=text)
    command(api, "off", "switch it off; HTTP stays as it is", "http_api:off")
    command(api, "token", "print the token with which they come; it stays the same", "http_api:token")
    command(api, "rotate", "make another token in its place, and print it", "http_api:rotate")
