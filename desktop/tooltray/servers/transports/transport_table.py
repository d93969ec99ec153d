"""The table of server types, and the function that makes the transport of each. To add a type, add a module and a line to `TRANSPORTS`.

The HTTP transports are imported in a thread when the first such server is started: the import of aiohttp takes a quarter of a second, which
a Tooltray with only stdio servers should not pay and no call should wait for. An in-memory server imports the SDK, for half a second, in
its own thread.

An entry that starts or calls this Tooltray itself would wait for itself forever, and is refused by certain signs (the program, a launcher's
package, a module, the bridge's file), never by folders that merely have our name. An entry hidden behind a script is found when its process
connects (carriers/mcp/local_socket).
"""

import asyncio
import importlib
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import PurePath
from urllib.parse import urlsplit

import msgspec

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.command_lookup import LAUNCHERS
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.transports.inmemory.sdk_transport import make_in_memory
from tooltray.servers.transports.transport import Transport, TransportOrder

_OURS = frozenset({"tooltray", "tooltray-bridge", "tooltray_bridge"})
_ENV_OPTIONS_WITH_VALUE = frozenset({"-u", "--unset", "-C", "--chdir"})
_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "::1", "0.0.0.0", "::"})
_BRIDGE_FILES = frozenset({"__main__.py", "hot.py", "cold.py"})


def leads_back(command: str, args: Sequence[str]) -> bool:
    """Returns whether a command line starts our bridge or a Tooltray hub."""
    program = _stem(command)
    if program in _OURS:
        return True
    if program in LAUNCHERS or program in ("uv", "pipx", "npm"):
        package = next((arg for arg in args if not arg.startswith("-") and arg not in ("tool", "run", "exec", "x")), "")
        if package.partition("@")[0].partition("==")[0] in _OURS:
            return True
    if program == "env":
        rest = _behind_env(args)
        return bool(rest) and leads_back(rest[0], rest[1:])
    for before, arg in zip(("", *args), args, strict=False):
        if before == "-m" and arg.partition(".")[0] in _OURS:
            return True
        path = PurePath(arg)
        if path.name in _BRIDGE_FILES and path.parent.name == "tooltray_bridge":
            return True
        if before == "-c" and program in ("sh", "bash", "zsh", "dash") and _script_leads_back(arg):
            return True
    return False


def url_leads_back(url: str, own: str | None) -> bool:
    """Returns whether a URL is one of Tooltray's own endpoints.

    Args:
        own: the address at which Tooltray listens, `http://host:port`; None if it does not listen.
    """
    try:
        wanted, ours = urlsplit(url), urlsplit(own or "")
        is_here = wanted.port == ours.port is not None
    except ValueError:  # a port that is not a number
        return False
    return is_here and (wanted.hostname == ours.hostname or {wanted.hostname, ours.hostname} <= _THIS_MACHINE)


def refusal(name: str) -> TooltrayError:
    """Returns the error for a server whose entry leads back to this Tooltray."""
    title = Phrase("'{name}' connects Tooltray to itself", name=name)
    return TooltrayError(title, Phrase("Tooltray would wait for itself"), Phrase("Remove this entry."))


def _behind_env(args: Sequence[str]) -> Sequence[str]:
    """Returns the command line that `env` runs."""
    while args and (args[0].startswith("-") or "=" in args[0]):
        args = args[2 if args[0] in _ENV_OPTIONS_WITH_VALUE else 1 :]
    return args


def _script_leads_back(script: str) -> bool:
    try:
        words = shlex.split(script)
    except ValueError:
        return False
    words = words[1:] if words[:1] == ["exec"] else words
    return bool(words) and leads_back(words[0], words[1:])


def _stem(command: str) -> str:
    name = PurePath(command).name
    return name.removesuffix(".exe")


_REMOTE_MODULES = (
    "tooltray.servers.transports.http.http_transport",
    "tooltray.servers.transports.http.sse_transport",
    "tooltray.servers.transports.http.certificate_trust",
)
MakeTransport = Callable[[TransportOrder], Awaitable[Transport]]
"""
Raises:
    TooltrayError: the server cannot be reached with these settings; the error gives the reason.
"""


class TransportKind(msgspec.Struct, frozen=True):
    """One type of server.

    Attributes:
        is_remote: the server is reached by a URL, so connecting is retried in the background without limit.
    """

    make: MakeTransport
    is_remote: bool = False


async def make_process(order: TransportOrder) -> Transport:
    """Makes the transport of a server that runs as a child process."""
    if leads_back(order.resolved.command or "", order.resolved.args):
        raise refusal(order.name)
    return order.start_process(await order.prepare_launch())


async def make_remote(order: TransportOrder) -> Transport:
    """Makes the transport of a server that is reached by a URL; no connection is opened yet.

    Raises:
        CannotStart: the URL, a header or the proxy cannot be used.
    """
    url = order.resolved.url or ""
    if url_leads_back(url, order.own_url):
        raise refusal(order.name)
    authorization = await order.authorize()
    for module in _REMOTE_MODULES:
        await asyncio.to_thread(importlib.import_module, module)
    from tooltray.servers.transports.http.certificate_trust import tls_context
    from tooltray.servers.transports.http.http_connections import HttpConnection
    from tooltray.servers.transports.http.http_transport import HttpTransport
    from tooltray.servers.transports.http.sse_transport import SseTransport

    connection = HttpConnection(
        server=order.name,
        url=url,
        headers=order.resolved.headers,
        environ=order.environ,
        trust=await asyncio.to_thread(tls_context, order.environ),
        mask=order.mask,
        authorization=authorization,
    )
    if order.config.transport == "sse":
        return SseTransport(name=order.name, connection=connection)
    return HttpTransport(name=order.name, connection=connection, tool_schema=order.tool_schema, refused=order.refused)


TRANSPORTS: Mapping[str, TransportKind] = {
    "stdio": TransportKind(make_process),
    "http": TransportKind(make_remote, is_remote=True),
    "sse": TransportKind(make_remote, is_remote=True),
    "inmemory": TransportKind(make_in_memory),
}
"""The kinds by `type` of the settings."""


def is_remote(type: str) -> bool:
    """Returns whether servers of a type are reached by a URL."""
    return type in TRANSPORTS and TRANSPORTS[type].is_remote


async def make_transport(order: TransportOrder) -> Transport:
    """Makes the transport for a server's type.

    Raises:
        CannotStart: no transport has this type.
        TooltrayError: the server cannot be reached with these settings; the error gives the reason.
    """
    type = order.config.transport
    if type not in TRANSPORTS:
        hint = Phrase("Give it a command, or a URL and the type http or sse.")
        raise CannotStart(Phrase("'{name}' cannot be started", name=order.name), Phrase("its type is {type}", type=type), hint)
    return await TRANSPORTS[type].make(order)
