"""The bridge's hot path: finds the hub, says hello, and carries bytes both ways until one side is gone. Most of a bridge's cost is its
start, so it imports only built-in or tiny modules: no os, no socket, no json, no asyncio; first_answers and then cold only when there is no
hub, and cold for help."""

import sys

from tooltray_bridge.tracker import Tracker

QUIET_S = 0.02  # a client that is about to ask more does so sooner

if sys.platform == "win32":
    from tooltray_bridge import paths_windows as paths
    from tooltray_bridge import relay_windows as platform
else:
    from tooltray_bridge import paths_posix as paths
    from tooltray_bridge import relay_posix as platform


class Options:
    """The options of the command line.

    Attributes:
        server: the only server that the client gets; None: all servers.
        profile: the named set of servers and tools for its client; None: the set for its kind of client.
        home: Tooltray's home, if not the usual one.
        may_start: whether a hub may be started if none runs.
    """

    server: str | None = None
    profile: str | None = None
    home: str | None = None
    may_start = True


def read_options(arguments: list[str]) -> Options | None:
    """Reads the command line; None if it is invalid, or asks for help."""
    options = Options()
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if argument == "--no-start":
            options.may_start = False
            continue
        if name not in ("--server", "--profile", "--home"):
            return None
        value = value if equals else next(rest, "")
        if not value:
            return None
        setattr(options, name[2:], value)
    return options


def as_json(text: bytes) -> bytes:
    """Returns a name as a JSON string; bytes that are not UTF-8 become replacement characters, because a JSON text cannot hold them."""
    readable = text.decode("utf-8", "replace")
    if readable.isprintable() and '"' not in readable and "\\" not in readable:
        return b'"%b"' % readable.encode()
    from json import dumps

    return dumps(readable).encode()


def hello(server: str | None, profile: str | None = None) -> bytes:
    """Returns the first line on every connection of one bridge. Each call puts a new session into it."""
    names = [b"null" if name is None else as_json(paths.to_bytes(name)) for name in (server, profile)]
    return b'{"tooltray":1,"role":"client","session":"%b","server":%b,"profile":%b,"cwd":%b,"leaves":true}\n' % (
        platform.random_bytes(16).hex().encode(),
        *names,
        as_json(working_folder()),
    )


def working_folder() -> bytes:
    """Returns the folder in which the client has started this bridge; empty if it has been removed."""
    try:
        return platform.working_folder()
    except OSError:
        return b""


def start_ahead(relay: platform.Relay, options: Options) -> None:
    """Starts without a hub; gives the answers that the last hub has left before it imports what starts one, which takes as long."""
    from tooltray_bridge.first_answers import answers_for

    relay.tracker.start_offline(answers_for(options, working_folder()))
    while relay.tracker.has_answers and not relay.tracker.is_awaiting:
        if not relay.wait(QUIET_S, may_read=not relay.to_client) or relay.is_client_gone or relay.is_done:
            return


def carry(options: Options) -> int:
    """Serves one client until it leaves; returns the exit code."""
    first = hello(options.server, options.profile)
    relay = platform.Relay(Tracker())
    try:
        relay.attach(platform.connect(paths.socket_path(paths.find_home(options.home, paths.ENVIRON))), first)
    except (FileNotFoundError, ConnectionRefusedError):
        start_ahead(relay, options)
    except (OSError, KeyError):
        relay.tracker.start_offline()
    outage = None
    while True:
        if relay.hub is None:
            if outage is None:
                from tooltray_bridge.cold import Outage

                outage = Outage(relay, options, first)
            if not outage.wait_for_hub():
                return outage.exit_code
        relay.pump()
        if relay.is_client_gone:
            return 0
        relay.detach()
        relay.tell_client(relay.tracker.hub_lost())
        if relay.is_done:
            return 0


def main(arguments: list[str]) -> int:
    """Runs the bridge.

    Args:
        arguments: the command line without the program's name.

    Returns:
        The exit code: 0 the client left, 1 the client left while no hub could be reached, or never existed, 2 usage, 130 SIGINT.
    """
    try:
        options = read_options(arguments)
        if options is None:
            from tooltray_bridge.cold import explain

            return explain(arguments)
        return platform.with_client(lambda: carry(options))
    except KeyboardInterrupt:
        return 130
