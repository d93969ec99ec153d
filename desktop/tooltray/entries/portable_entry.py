"""A server's entry without its secrets, to be carried to another machine.

Above it: presenter/setup. Below it: pasted, which knows what looks like a secret. Pure; knows no store of secrets.

What stands in plain text where a secret belongs becomes `${secret:SERVER/KEY}`, as adding the server would have made it. Rather one
placeholder too many than a key in a file that people mail around: a person sees in the list of secrets what is to be given.
"""

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tooltray.entries.pasted import looks_secret

SHORTEST_KNOWN = 6  # characters of a known value that is looked for in other texts; shorter ones stand in harmless words
_SCHEME = re.compile(r"((?:Bearer|Basic|Token|ApiKey)\s+)?(.*)", re.IGNORECASE | re.DOTALL)
_KEY_IN_PATH = re.compile(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[A-Za-z0-9_-]{24,}")  # some services put a person's key into the path
_PLACEHOLDER = re.compile(r"\$\{")
_URL_FIELDS = ("url", "baseUrl")
_ARGUMENT_FIELDS = ("args", "startupArgsTemplate")


@dataclass(frozen=True)
class PortableEntry:
    """
    Attributes:
        entry: in the spelling it had.
        values: what stood there in plain text, by the names of the placeholders; as it has to be filled in again.
    """

    entry: dict[str, Any]
    values: dict[str, str] = field(repr=False)


def without_secrets(server: str, entry: Mapping[str, Any], known: Collection[str] = ()) -> PortableEntry:
    """Returns an entry with placeholders in the places of its secrets.

    Args:
        entry: as it stands in the settings; it is not changed.
        known: values that are secrets, wherever they stand.
    """
    cleaner = _Cleaner(server, [value for value in known if len(value) >= SHORTEST_KNOWN])
    return PortableEntry(cleaner.members(entry), cleaner.values)


class _Cleaner:
    """One entry's way through."""

    def __init__(self, server: str, known: list[str]) -> None:
        self._server, self._known = server, known
        self.values: dict[str, str] = {}

    def members(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self._value(key, value) for key, value in entry.items()}

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            return self._url(value) if key in _URL_FIELDS else self._text(key, value)
        if key in _ARGUMENT_FIELDS and isinstance(value, list):
            return list(self._arguments(value))
        if isinstance(value, Mapping):
            return self.members(value)
        if isinstance(value, list):
            return [self._value(key, each) for each in value]
        return value

    def _text(self, key: str, text: str) -> str:
        """A value, whose scheme ("Bearer ") stays."""
        found = _SCHEME.fullmatch(text)
        scheme, held = (found[1] or "", found[2]) if found else ("", text)
        if _PLACEHOLDER.match(held):
            return text
        return scheme + self._placeholder(key, held) if self._is_secret(key, held) or self._is_secret(key, text) else text

    def _arguments(self, words: list[Any]) -> Iterator[Any]:
        option = ""
        for word in words:
            if not isinstance(word, str):
                yield word
                continue
            name, equals, value = word.partition("=")
            if equals and self._is_secret(name.lstrip("-"), value):
                yield f"{name}={self._placeholder(name, value)}"
            elif not word.startswith("-") and self._is_secret(option.lstrip("-"), word):
                yield self._placeholder(option or "ARGUMENT", word)
            else:
                yield word
            option = word if word.startswith("-") and not equals else ""

    def _url(self, text: str) -> str:
        try:
            parts = urlsplit(text)
        except ValueError:
            return self._placeholder("URL", text)  # what cannot be read may hold anything
        login, at, host = parts.netloc.rpartition("@")
        user, colon, password = login.partition(":")
        if colon and not _PLACEHOLDER.match(password):
            login = f"{user}:{self._placeholder('PASSWORD', password)}"
        path = "/".join(self._if(_is_key, "URL_KEY", segment) for segment in parts.path.split("/"))
        query = "&".join(self._parameter(pair) for pair in parts.query.split("&")) if parts.query else ""
        return parts._replace(netloc=f"{login}{at}{host}", path=path, query=query).geturl()

    def _parameter(self, pair: str) -> str:
        for key, value in parse_qsl(pair):
            if self._is_secret(key, value):
                return f"{quote(key, safe='')}={self._placeholder(key, pair.partition('=')[2])}"
        return pair

    def _if(self, is_secret: Callable[[str], bool], key: str, text: str) -> str:
        return self._placeholder(key, text) if is_secret(text) or self._is_known(unquote(text)) else text

    def _is_secret(self, key: str, value: str) -> bool:
        return bool(value) and (looks_secret(key, value) or self._is_known(value))

    def _is_known(self, text: str) -> bool:
        return any(secret in text for secret in self._known)

    def _placeholder(self, key: str, value: str) -> str:
        """One for each value: two arguments that have no names are two secrets."""
        plain = f"{self._server}/{re.sub('[^A-Za-z0-9_.-]+', '_', key.lstrip('-')) or 'SECRET'}"
        names = itertools.chain([plain], (f"{plain}_{number}" for number in itertools.count(2)))
        name = next(name for name in names if self.values.get(name, value) == value)
        self.values[name] = value
        return f"${{secret:{name}}}"


def _is_key(segment: str) -> bool:
    return bool(_KEY_IN_PATH.fullmatch(segment))
