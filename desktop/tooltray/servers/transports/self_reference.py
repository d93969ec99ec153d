"""Recognises a server entry that starts or calls this Tooltray itself, which would wait for itself forever. Pure.

Only certain signs are compared (the program, a launcher's package, a module, the bridge's file), never folders that merely have our name.
An entry hidden behind a script is found when its process connects (carriers/mcp/bridge_listener).
"""

import shlex
from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import urlsplit

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.command_lookup import LAUNCHERS

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
    title = Phrase("'{name}' leads back to Tooltray itself", name=name)
    return TooltrayError(title, Phrase("the hub would wait for itself"), Phrase("Remove this entry."))


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
