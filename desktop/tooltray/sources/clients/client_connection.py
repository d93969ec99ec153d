"""Whether an entry of Tooltray in a client's file is the one that would be written today.

Above it: client_scanner, and whatever connects clients. Below it: entry_words, the disk, where it looks for the entry's program.
"""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

import msgspec

from tooltray.foundation.snapshots.ai_clients import Connection
from tooltray.sources.clients.entry_words import url_of, words_of
from tooltray.sources.clients.found_entries import FoundEntry

ORDER: Sequence[Connection] = ("connected", "outdated", "broken", "none")
"""The best first."""


class OwnEntry(msgspec.Struct, frozen=True):
    """What stands for Tooltray in a client's file.

    Attributes:
        words: the command line that is written today.
        url: where the hub listens, or would, `http://host:port`.
        has_http: whether it listens.
    """

    words: tuple[str, ...]
    url: str
    has_http: bool = False


def connection_of(entries: Iterable[FoundEntry], own: OwnEntry, environ: Mapping[str, str]) -> Connection:
    """The best of the entries that are Tooltray; "none": no entry is."""
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
    """Options such as a profile may follow; a home that is not the one of today's entry is another hub."""
    return any(word == "--home" or word.startswith("--home=") for word in rest)


def is_program_there(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether the program of a command line, and the files among its arguments, exist.

    Args:
        environ: where PATH is looked up.
    """
    program, *arguments = (_at_home(word, environ) for word in words)
    if not (os.access(program, os.X_OK) if os.path.isabs(program) else shutil.which(program, path=environ.get("PATH", ""))):
        return False
    return all(os.path.exists(each) for each in arguments if os.path.isabs(each) and each.endswith(".py"))


def _at_home(word: str, environ: Mapping[str, str]) -> str:
    return word.replace("~", environ.get("HOME", "~"), 1) if word.startswith("~/") else word
