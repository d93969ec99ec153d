"""The parts of an entry of any AI client: the command line, the URL, variables and headers, whatever the keys are called; and whether it is
Tooltray, in any form that the bridge's entry has ever had, or leads to Tooltray through another program.

A member of an unexpected type counts as absent.
"""

import itertools
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from tooltray.servers.transports.self_reference import leads_back, url_leads_back

Entry = Mapping[str, object]

_COMMANDS = ("command", "cmd")
_ARGUMENTS = ("args", "arguments")
_URLS = ("url", "uri", "serverUrl", "httpUrl", "baseUrl")
_VARIABLES = ("env", "envs", "environment")
_HEADERS = ("headers", "http_headers", "customHeaders")
MAX_WORD = 4096  # characters of an argument in which a command is looked for; a command line is shorter

_URL = re.compile(r"https?://[^\s\"'<>]+")
_OURS = ("tooltray", "tooltray-bridge", "tooltray_bridge")
_STARTERS = ("py", "env", "sh", "bash", "zsh", "dash")
_HUB_COMMANDS = ("serve", "bridge")


def words_of(entry: Entry) -> tuple[str, ...]:
    """Returns command and arguments; empty for a remote server."""
    command = _first(entry, _COMMANDS)
    if isinstance(command, Mapping):  # Zed, as it wrote entries until 2025
        return words_of({"command": command.get("path"), "args": command.get("args")})
    words = _texts(command) if isinstance(command, list) else [command] if isinstance(command, str) and command.strip() else []
    if not words:
        return ()
    return (*words, *_texts(_first(entry, _ARGUMENTS)))


def url_of(entry: Entry) -> str:
    """Returns the URL of a remote server; empty for a command."""
    url = _first(entry, _URLS)
    return url.strip() if isinstance(url, str) and not words_of(entry) else ""


def variables_of(entry: Entry) -> dict[str, str]:
    """Returns the variables of its environment with the values as they are written."""
    return _pairs(entry, _VARIABLES)


def headers_of(entry: Entry) -> dict[str, str]:
    """Returns HTTP headers with the values as they are written."""
    return _pairs(entry, _HEADERS)


def is_server(entry: Entry) -> bool:
    """Returns whether an entry has a command or a URL."""
    return bool(words_of(entry) or url_of(entry))


def is_off(entry: Entry) -> bool:
    """Returns whether the entry itself switches its server off."""
    return any(entry.get(key) is True for key in ("disabled", "disable")) or any(entry.get(key) is False for key in ("enabled", "active"))


def _first(entry: Entry, keys: Iterable[str]) -> object:
    return next((entry[key] for key in keys if entry.get(key) not in (None, "")), None)


def _texts(value: object) -> list[str]:
    return [_text(each) for each in value if each is not None] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def _pairs(entry: Entry, keys: Iterable[str]) -> dict[str, str]:
    given = _first(entry, keys)
    pairs = given.items() if isinstance(given, Mapping) else ()
    return {str(key): _text(value) for key, value in pairs if value is not None}


# whether it is Tooltray


def kind_of(entry: Entry, own_url: str | None) -> Literal["server", "bridge", "loop"]:
    """Returns "bridge" for an entry that starts our bridge or calls our address itself; "loop" for one that starts something else, a proxy
    or another hub, that names our bridge or our address in an argument or a variable: imported, it would make the hub wait for itself.

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
    """Returns what `cmd /c` runs, which many entries begin with on Windows; folders are separated by `/`."""
    words = [word.replace("\\", "/") for word in words]
    is_shell = len(words) > 2 and _program(words[0]) == "cmd" and words[1].lower() in ("/c", "/k")
    return words[2:] if is_shell else words


def _starts_it_itself(words: Sequence[str]) -> bool:
    """Returns whether a command line that names us starts us; another hub's may name us as one of its servers."""
    program = _program(words[0])
    if program in (*_OURS, *_STARTERS) or program.startswith(("python", "pypy")):
        return True
    packages = (re.split("@|==", word)[0] for word in words[1:])
    return any(package in _OURS for package in packages)


def _program(word: str) -> str:
    return word.rpartition("/")[2].lower().removesuffix(".exe").removesuffix(".cmd")


def _has_command(words: Sequence[str]) -> bool:
    """Returns whether our hub's command is among the arguments of another program."""
    return any(_program(first) in _OURS and second in _HUB_COMMANDS for first, second in itertools.pairwise(words))


def _names_us(text: str, own_url: str | None) -> bool:
    if any(url_leads_back(found[0], own_url) for found in _URL.finditer(text)):
        return True
    return "tooltray" in text and len(text) <= MAX_WORD and _is_command(text)


def _is_command(text: str) -> bool:
    """Returns whether an argument is the path of the bridge, or a command line that starts it; a folder may have our name."""
    if _program(text) in ("tooltray-bridge", "tooltray_bridge"):
        return True
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    return len(words) > 1 and leads_back(words[0], words[1:])
