"""Rules for which calls over REST need a person's confirmation, besides those that the verbs themselves require.

Above it: the tables of operations. Below it: the settings. A person confirms such a call by making it in the window or on the command line;
a program confirms it by a trusted token.
"""

from collections.abc import Mapping

from tooltray.carriers.rest.operation import Call
from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.widening import profile_widens
from tooltray.foundation.errors import Denied

HARMLESS_REMEDIES = frozenset({"start"})


def check_is_not_of_api(changes: Mapping[str, object]) -> None:
    """Checks that changes of the settings do not concern the REST interface itself, which only a person may change.

    Raises:
        Denied: they do.
    """
    place: object = changes
    for name in ("publish", "http", "api"):
        if not isinstance(place, Mapping):
            break  # the parent is replaced, and the interface's settings with it
        if name not in place:
            return
        place = place[name]
    raise Denied("A program may not do this", "it would change what programs may do here", "See `tooltray http api`.")


async def accepts_a_question(call: Call) -> bool:
    """Accepting a server's elicitation needs confirmation; declining does not."""
    return bool(call.arguments["action"] == "accept")


async def switches_on(call: Call) -> bool:
    """Switching on a tool or the measuring of registries needs confirmation, since a person may have switched it off."""
    return bool(call.arguments["enabled"])


async def changes_arguments(call: Call) -> bool:
    """Deferred arguments are part of the command."""
    return call.arguments.get("template") is not None or bool(call.arguments["deferred"])


async def mends(call: Call) -> bool:
    """A remedy may change what is run, or where its packages come from."""
    return call.arguments["kind"] not in HARMLESS_REMEDIES


async def shows_more(call: Call) -> bool:
    """An existing profile gets more servers or tools."""
    before = call.config.settings.profiles.get(call.arguments["name"])
    return before is not None and profile_widens(before, call.arguments["profile"])


async def leaves_a_profile(call: Call) -> bool:
    """A kind of AI client with a profile gets another one or none."""
    here = call.config.settings.publish.clients.get(call.arguments["client"])
    return here is not None and here.profile not in (None, call.arguments.get("profile", ""))


async def replaces_a_secret(call: Call) -> bool:
    """An existing secret, or one that an entry uses: it may be part of a command, and decides as whom a server acts."""
    name = call.arguments["name"]
    if name in await call.presenter.secrets.get_secret_names():
        return True
    return any(name in secret_names(server) for server in call.config.settings.mcp_servers.values())


async def removes_a_used_secret(call: Call) -> bool:
    """Removing a used secret would allow a program to set another value."""
    name = call.arguments["name"]
    return name in await call.presenter.secrets.get_secret_names() and name not in await call.presenter.secrets.get_unused_secrets()
