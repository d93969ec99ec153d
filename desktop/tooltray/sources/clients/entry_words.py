"""What an entry of any AI client says: the command line, the URL, variables and headers, whatever the keys are called.

Above it: found_entries, client_scanner, and whatever else looks at entries. Pure. Nothing is checked or replaced; what has an unexpected
type counts as absent.
"""

from collections.abc import Iterable, Mapping

Entry = Mapping[str, object]

_COMMANDS = ("command", "cmd")
_ARGUMENTS = ("args", "arguments")
_URLS = ("url", "uri", "serverUrl", "httpUrl", "baseUrl")
_VARIABLES = ("env", "envs", "environment")
_HEADERS = ("headers", "http_headers", "customHeaders")


def words_of(entry: Entry) -> tuple[str, ...]:
    """Command and arguments; empty for a server elsewhere."""
    command = _first(entry, _COMMANDS)
    if isinstance(command, Mapping):  # Zed, as it wrote entries until 2025
        return words_of({"command": command.get("path"), "args": command.get("args")})
    words = _texts(command) if isinstance(command, list) else [command] if isinstance(command, str) and command.strip() else []
    if not words:
        return ()
    return (*words, *_texts(_first(entry, _ARGUMENTS)))


def url_of(entry: Entry) -> str:
    """The URL of a server elsewhere; empty for a command."""
    url = _first(entry, _URLS)
    return url.strip() if isinstance(url, str) and not words_of(entry) else ""


def variables_of(entry: Entry) -> dict[str, str]:
    """Variables of its environment with the values as they are written."""
    return _pairs(entry, _VARIABLES)


def headers_of(entry: Entry) -> dict[str, str]:
    """HTTP headers with the values as they are written."""
    return _pairs(entry, _HEADERS)


def is_server(entry: Entry) -> bool:
    """Whether it says what to start or to call."""
    return bool(words_of(entry) or url_of(entry))


def is_off(entry: Entry) -> bool:
    """Whether the entry itself switches its server off."""
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
