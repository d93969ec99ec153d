"""Recognises entries that are Tooltray: our bridge in any form that it has ever had, and those that lead to us through another program.

Above it: found_entries. Below it: self_reference. Pure.

- "bridge": the entry starts our bridge or calls our address itself.
- "loop": it starts something else, a proxy or another hub, that names our bridge or our address in an argument or a variable. Imported, it
  would make the hub wait for itself.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Literal

from tooltray.ai_clients.entry_words import Entry, url_of, variables_of, words_of
from tooltray.transports.self_reference import leads_back, url_leads_back

MAX_WORD = 4096  # characters of an argument in which a command is looked for; a command line is shorter

_URL = re.compile(r"https?://[^\s\"'<>]+")
_WINDOWS_SHELLS = ("cmd", "cmd.exe")


def kind_of(entry: Entry, own_url: str | None) -> Literal["server", "bridge", "loop"]:
    """
    Args:
        own_url: at which the hub listens or would listen, `http://host:port`; None: nowhere.
    """
    words, url = _without_shell(words_of(entry)), url_of(entry)
    if url_leads_back(url, own_url) or (words and leads_back(words[0], words[1:])):
        return "bridge"
    named = [*words[1:], *variables_of(entry).values()]
    return "loop" if any(_names_us(each, own_url) for each in named) else "server"


def _without_shell(words: Sequence[str]) -> Sequence[str]:
    """What `cmd /c` runs: on Windows many entries stand behind it."""
    is_shell = len(words) > 2 and words[0].replace("\\", "/").rpartition("/")[2].lower() in _WINDOWS_SHELLS
    return words[2:] if is_shell and words[1].lower() in ("/c", "/k") else words


def _names_us(text: str, own_url: str | None) -> bool:
    if any(url_leads_back(found[0], own_url) for found in _URL.finditer(text)):
        return True
    return len(text) <= MAX_WORD and any(leads_back(words[0], words[1:]) for words in _commands_in(text))


def _commands_in(text: str) -> Iterator[list[str]]:
    """An argument as the path of a program, and as a command line of its own."""
    if "tooltray" not in text:
        return
    yield [text]
    try:
        words = shlex.split(text)
    except ValueError:
        return
    if len(words) > 1:
        yield words
