"""The names of AI clients: users know "Claude Code", which names itself claude-code. Imports neither Qt nor other modules of the window."""

import json
import re
from functools import cache

from tooltray.foundation.programs import resource

PERSON = "tooltray"  # the client of what a person does in the window or on the command line
WILDCARD = "*"  # in a name of the table: any characters


def shown_client(name: str) -> str:
    """Returns the name of an AI client that users know; a client that Tooltray does not know has its own.

    Args:
        name: as the client names itself, such as "claude-code"; empty: it has no name.
    """
    return next((title for pattern, title in _titles() if pattern.fullmatch(name)), name)


@cache
def _titles() -> tuple[tuple[re.Pattern[str], str], ...]:
    clients = json.loads(resource("client-profiles.json").read_bytes())["clients"]
    return tuple(
        (re.compile(re.escape(name).replace(re.escape(WILDCARD), ".*"), re.DOTALL), client["title"])
        for client in clients
        for name in client["names"]
    )
