"""The entry of the bridge, in each AI client's form, and the comparison of entries in files with it. Its command comes from
`foundation.installs.installations.bridge_entry`.

The keys that each client reads were measured, or are in its documentation or source; uncertain keys are left out, since some clients refuse
a whole file because of an unknown key.
"""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias
from urllib.parse import urlsplit

import msgspec

from tooltray.foundation.files.member_change import NAME
from tooltray.foundation.snapshots.ai_clients import Connection
from tooltray.foundation.verbs import JsonObject
from tooltray.sources.clients.client_kinds import Shape
from tooltray.sources.clients.found_entries import FoundEntry, url_of, words_of

KEY = "tooltray"
"""The entry's key. With each client's prefix made from this key, a tool's longest name is within the strictest client's limit."""

CALL_TIMEOUT_S = 3600  # seconds, the most that Roo Code accepts; a call may wait for the user, or work for long
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

_AROUND: Mapping[Shape, tuple[Entry, Entry]] = {
    "claude": ({"type": "stdio"}, {}),
    "cline": ({}, {"disabled": False, "timeout": CALL_TIMEOUT_S}),
    "codex": ({}, {"startup_timeout_sec": START_TIMEOUT_S, "tool_timeout_sec": CALL_TIMEOUT_S}),
    "continue": ({NAME: KEY}, {}),
    "copilot-cli": ({"type": "local"}, {"tools": ["*"], "timeout": CALL_TIMEOUT_S * 1000}),
    "crush": ({"type": "stdio"}, {}),
    "droid": ({"type": "stdio"}, {"timeout": CALL_TIMEOUT_S * 1000}),
    "gemini": ({}, {"timeout": CALL_TIMEOUT_S * 1000}),
    "goose": ({"type": "stdio", NAME: KEY, "enabled": True}, {"timeout": CALL_TIMEOUT_S}),
    "opencode": ({"type": "local"}, {"enabled": True, "timeout": CALL_TIMEOUT_S * 1000}),
    "roo": ({}, {"disabled": False, "timeout": CALL_TIMEOUT_S}),
    "vscode": ({"type": "stdio"}, {}),
}
"""The members of an entry before and behind the command, by shape; shapes that are not listed have none."""


def bridge_entry_for(shape: Shape, words: Sequence[str]) -> Entry:
    """Returns the entry that starts the bridge.

    Args:
        shape: of the client.
        words: the bridge's command line; the program with its whole path, since AI clients and terminals have different PATHs.
    """
    command, args = words[0], list(words[1:])
    start: Entry = {"command": command, "args": args}
    if shape == "opencode":
        start = {"command": [command, *args]}
    elif shape == "goose":
        start = {"cmd": command, "args": args, "envs": {}}
    before, behind = _AROUND.get(shape, ({}, {}))
    return {**before, **start, **behind}


def mended_entry(shape: Shape, words: Sequence[str], before: Mapping[str, object]) -> Entry:
    """Returns an outdated, broken or switched-off entry of Tooltray as it should be; the user's additions stay."""
    fresh = bridge_entry_for(shape, words)
    kept = {key: value for key, value in before.items() if key in fresh or key not in _OF_ANOTHER_WAY}
    mended = kept | {key: value for key, value in fresh.items() if key not in kept or key not in _CHOSEN_BY_PERSON}
    for key, is_on in (("disabled", False), ("disable", False), ("enabled", True)):
        if key in mended:
            mended[key] = is_on
    return mended


ORDER: Sequence[Connection] = ("connected", "outdated", "broken", "none")
"""The states of an entry, the best first."""


class OwnEntry(msgspec.Struct, frozen=True):
    """The entry in its present form.

    Attributes:
        words: the present command line.
        url: the hub's address, open or not, `http://host:port`; None if no address is set.
        has_http: whether it listens.
    """

    words: tuple[str, ...] = ()
    url: str | None = None
    has_http: bool = False


def connection_of(entries: Iterable[FoundEntry], own: OwnEntry, environ: Mapping[str, str]) -> Connection:
    """Returns the best state among the entries of Tooltray; "none" without one."""
    return best(_one(entry, own, environ) for entry in entries if entry.kind == "bridge")


def best(connections: Iterable[Connection]) -> Connection:
    return min(connections, key=ORDER.index, default="none")


def _one(entry: FoundEntry, own: OwnEntry, environ: Mapping[str, str]) -> Connection:
    if entry.state == "off":
        return "broken"
    words = words_of(entry.entry)
    if not words:
        return _over_http(url_of(entry.entry), own)
    if not is_program_there(words, environ):
        return "broken"
    mine = own.words
    is_right = tuple(words[: len(mine)]) == mine and not _names_other_home(words[len(mine) :])
    return "connected" if is_right else "outdated"


def _over_http(url: str, own: OwnEntry) -> Connection:
    if not own.has_http:
        return "broken"
    return "connected" if urlsplit(url).path.rstrip("/") == "/mcp" else "outdated"


def _names_other_home(rest: Sequence[str]) -> bool:
    """Returns whether the remaining options name a home, and so another hub than the present entry. Other options may follow."""
    return any(word == "--home" or word.startswith("--home=") for word in rest)


def is_program_there(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Returns whether the program of a command line, and the files among its arguments, exist.

    Args:
        environ: has PATH.
    """
    program, *arguments = (_at_home(word, environ) for word in words)
    if not (os.access(program, os.X_OK) if os.path.isabs(program) else shutil.which(program, path=environ.get("PATH", ""))):
        return False
    return all(os.path.exists(each) for each in arguments if os.path.isabs(each) and each.endswith(".py"))


def _at_home(word: str, environ: Mapping[str, str]) -> str:
    return word.replace("~", environ.get("HOME", "~"), 1) if word.startswith("~/") else word
