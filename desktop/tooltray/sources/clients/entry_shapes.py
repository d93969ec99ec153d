"""The entry of our bridge as each AI client wants it written.

Above it: file_edits. Below it: client_kinds. Pure. What each client reads was measured, or stands in its documentation or source; a key
that is not certain is left out, since some clients refuse a whole file for it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from tooltray.foundation.files.member_change import NAME
from tooltray.foundation.remote import JsonObject
from tooltray.sources.clients.client_kinds import Shape

KEY = "tooltray"
"""Of the entry. With the prefix that each client makes of it, a tool's longest name is within the limit of the strictest one."""

CALL_TIMEOUT_S = 3600  # a call may wait for a person, or work for long; the most that Roo Code accepts
START_TIMEOUT_S = 60  # the bridge answers within a second, unless it has to start the hub on a slow machine

Entry: TypeAlias = JsonObject
_CHOSEN_BY_PERSON = ("timeout", "startup_timeout_sec", "tool_timeout_sec", "tools", "description")
_OF_ANOTHER_WAY = (
    "command",
    "cmd",
    "args",
    "url",
    "uri",
    "serverUrl",
    "httpUrl",
    "headers",
    "http_headers",
    "type",
    "transport",
    "transportType",
)


def bridge_entry_for(shape: Shape, words: Sequence[str]) -> Entry:
    """The entry that starts the bridge.

    Args:
        shape: of the client.
        words: the bridge's command line; the program with its whole path, since AI clients have another PATH than a terminal.
    """
    return _SHAPES.get(shape, _plain)(words[0], list(words[1:]))


def mended_entry(shape: Shape, words: Sequence[str], before: Mapping[str, object]) -> Entry:
    """An entry of ours that is outdated, broken or switched off, as it should be; what a person has added stays."""
    fresh = bridge_entry_for(shape, words)
    kept = {key: value for key, value in before.items() if key in fresh or key not in _OF_ANOTHER_WAY}
    mended = kept | {key: value for key, value in fresh.items() if key not in kept or key not in _CHOSEN_BY_PERSON}
    for key, is_on in (("disabled", False), ("disable", False), ("enabled", True)):
        if key in mended:
            mended[key] = is_on
    return mended


def _plain(command: str, args: list[str]) -> Entry:
    return {"command": command, "args": args}


def _typed(command: str, args: list[str]) -> Entry:
    return {"type": "stdio", "command": command, "args": args}


def _cline(command: str, args: list[str]) -> Entry:
    return {"command": command, "args": args, "disabled": False, "timeout": CALL_TIMEOUT_S}


def _codex(command: str, args: list[str]) -> Entry:
    return {"command": command, "args": args, "startup_timeout_sec": START_TIMEOUT_S, "tool_timeout_sec": CALL_TIMEOUT_S}


def _gemini(command: str, args: list[str]) -> Entry:
    return {"command": command, "args": args, "timeout": CALL_TIMEOUT_S * 1000}


def _copilot_cli(command: str, args: list[str]) -> Entry:
    return {"type": "local", "command": command, "args": args, "tools": ["*"], "timeout": CALL_TIMEOUT_S * 1000}


def _opencode(command: str, args: list[str]) -> Entry:
    return {"type": "local", "command": [command, *args], "enabled": True, "timeout": CALL_TIMEOUT_S * 1000}


def _droid(command: str, args: list[str]) -> Entry:
    return {"type": "stdio", "command": command, "args": args, "timeout": CALL_TIMEOUT_S * 1000}


def _goose(command: str, args: list[str]) -> Entry:
    start: Entry = {"cmd": command, "args": args, "envs": {}}
    return {"type": "stdio", NAME: KEY, "enabled": True, **start, "timeout": CALL_TIMEOUT_S}


def _continue(command: str, args: list[str]) -> Entry:
    return {NAME: KEY, "command": command, "args": args}


_SHAPES: Mapping[Shape, Callable[[str, list[str]], Entry]] = {
    "claude": _typed,
    "cline": _cline,
    "codex": _codex,
    "continue": _continue,
    "copilot-cli": _copilot_cli,
    "crush": _typed,
    "droid": _droid,
    "gemini": _gemini,
    "goose": _goose,
    "opencode": _opencode,
    "roo": _cline,
    "vscode": _typed,
}
"""Those that are not listed take `command` and `args`."""
