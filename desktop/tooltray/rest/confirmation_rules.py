"""What a program may do over REST only where a person has confirmed it, besides what verbs ask about by themselves.

Above it: the tables of operations. Below it: the settings, as they are read. A person who uses these verbs in the window, or types their
commands, confirms them by that; a program does so by a token that a person has made a trusted one.
"""

from collections.abc import Mapping
from typing import Any

from tooltray.errors import Denied
from tooltray.rest.operation import Call
from tooltray.settings.expansion import secret_names
from tooltray.settings.widening import profile_widens

READS = ("read",)  # what goes unasked of a server whose entry does not say
HARMLESS_REMEDIES = frozenset({"start"})


def check_is_not_of_api(changes: Mapping[str, Any]) -> None:
    """Changes of the settings do not concern this interface itself: it is a person's own.

    Raises:
        Denied: they do.
    """
    place: Any = changes
    for name in ("publish", "http", "api"):
        if not isinstance(place, Mapping):
            break  # all of it is put away, and this with it
        if name not in place:
            return
        place = place[name]
    raise Denied("A program may not do this", "it would change what programs may do here", "See `tooltray http api`.")


async def accepts_a_question(call: Call) -> bool:
    """A server asks the person; a program may say no to that."""
    return bool(call.arguments["action"] == "accept")


async def switches_on(call: Call) -> bool:
    """What a person has switched off, a program may not switch on: a tool, or measuring registries. It may switch it off."""
    return bool(call.arguments["enabled"])


async def changes_words(call: Call) -> bool:
    """A tool under another name, or with other words, is what a model takes it for; without any it has its own."""
    return any(call.arguments.get(word) is not None for word in ("name", "description"))


async def changes_arguments(call: Call) -> bool:
    """Arguments for a project are as much of a command as others."""
    return call.arguments.get("template") is not None or bool(call.arguments["deferred"])


async def mends(call: Call) -> bool:
    """A remedy changes what is run, or where its packages come from."""
    return call.arguments["kind"] not in HARMLESS_REMEDIES


async def shows_more(call: Call) -> bool:
    """A profile that there is, with more in it than before."""
    before = call.config.settings.profiles.get(call.arguments["name"])
    return before is not None and profile_widens(before, call.arguments["profile"])


async def leaves_a_profile(call: Call) -> bool:
    """A kind of AI client that has a profile gets another one, or none."""
    here = call.config.settings.publish.clients.get(call.arguments["client"])
    return here is not None and here.profile not in (None, call.arguments.get("profile", ""))


async def replaces_a_secret(call: Call) -> bool:
    """One that there is already, or that an entry waits for: it may stand in what is run, and decides as whom a server acts."""
    name = call.arguments["name"]
    if name in await call.presenter.secrets.get_secret_names():
        return True
    return any(name in secret_names(server) for server in call.config.settings.mcp_servers.values())


async def removes_a_used_secret(call: Call) -> bool:
    """Its place would be free for another value."""
    name = call.arguments["name"]
    return name in await call.presenter.secrets.get_secret_names() and name not in await call.presenter.secrets.get_unused_secrets()
