"""Recognises entries that are Tooltray: our bridge in any form that it has ever had, and those that lead to us through another program.

Above it: found_entries. Below it: self_reference. Pure.

- "bridge": the entry starts our bridge or calls our address itself.
- "loop": it starts something else, a proxy or another hub, that names our bridge or our address in an argument or a variable. Imported, it
  would make the hub wait for itself.
"""

import itertools
import re
import shlex
from collections.abc import Sequence
from typing import Literal

from tooltray.servers.transports.self_reference import leads_back, url_leads_back
from tooltray.sources.clients.entry_words import Entry, url_of, variables_of, words_of

MAX_WORD = 4096  # characters of an argument in which a command is looked for; a command line is shorter

_URL = re.compile(r"https?://[^\s\"'<>]+")
_OURS = ("tooltray", "tooltray-bridge", "tooltray_bridge")
_STARTERS = ("py", "env", "sh", "bash", "zsh", "dash")
_COMMANDS = ("serve", "bridge")


def kind_of(entry: Entry, own_url: str | None) -> Literal["server", "bridge", "loop"]:
    """
    Args:
        own_url: at which the hub listens or would listen, `http://host:port`; None: nowhere.
    """
    words, url = _without_shell(words_of(entry)), url_of(entry)
    is_named = bool(words) and leads_back(words[0], words[1:])
    if url_leads_back(url, own_url) or (is_named and _starts_it_itself(words)):
        return "bridge"
    named = [*words[1:], *variables_of(entry).values()]
    return "loop" if is_named or _has_command(words[1:]) or any(_names_us(each, own_url) for each in named) else "server"


def _without_shell(words: Sequence[str]) -> Sequence[str]:
    """What `cmd /c` runs, on Windows: many entries stand behind it there. Folders are separated as elsewhere."""
    words = [word.replace("\\", "/") for word in words]
    is_shell = len(words) > 2 and _program(words[0]) == "cmd" and words[1].lower() in ("/c", "/k")
    return words[2:] if is_shell else words


def _starts_it_itself(words: Sequence[str]) -> bool:
    """Whether a command line that names us does so for what it starts: another hub's may name us as one of its servers."""
    program = _program(words[0])
    if program in (*_OURS, *_STARTERS) or program.startswith(("python", "pypy")):
        return True
    packages = (re.split("@|==", word)[0] for word in words[1:])
    return any(package in _OURS for package in packages)


def _program(word: str) -> str:
    return word.rpartition("/")[2].lower().removesuffix(".exe").removesuffix(".cmd")


def _has_command(words: Sequence[str]) -> bool:
    """Whether our hub's command stands among the arguments of another program."""
    return any(_program(first) in _OURS and second in _COMMANDS for first, second in itertools.pairwise(words))


def _names_us(text: str, own_url: str | None) -> bool:
    if any(url_leads_back(found[0], own_url) for found in _URL.finditer(text)):
        return True
    return "tooltray" in text and len(text) <= MAX_WORD and _is_command(text)


def _is_command(text: str) -> bool:
    """Whether an argument is the path of the bridge, or a command line of its own that starts it; a folder may have our name."""
    if _program(text) in ("tooltray-bridge", "tooltray_bridge"):
        return True
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    return len(words) > 1 and leads_back(words[0], words[1:])
