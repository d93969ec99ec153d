"""Replaces the secrets in a server's entry by placeholders, so that it can be exported to another machine.

Above it: Setup, Proposals, clean_text and rest. Below it: pasted, which detects secrets. Pure; knows no store of secrets.

A plain value that looks like a secret becomes `${secret:SERVER/KEY}`, as when a server is added. When in doubt, a value is replaced: a key
must not get into a file that people send around, and a person sees in the list of secrets which values are missing.
"""

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tooltray.hidden_fields import HidesFields
from tooltray.settings.secret_looks import looks_secret

SHORTEST_KNOWN = 6  # characters of a known value that is searched in other texts; shorter ones occur in harmless words
_SCHEME = re.compile(r"((?:Bearer|Basic|Token|ApiKey)\s+)?(.*)", re.IGNORECASE | re.DOTALL)
_KEY_IN_PATH = re.compile(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[A-Za-z0-9_-]{24,}")  # some services have a person's key in the path
_PLACEHOLDER = re.compile(r"\$\{")
_URL_FIELDS = ("url", "baseUrl")
_ARGUMENT_FIELDS = ("args", "startupArgsTemplate")


class PortableEntry(HidesFields, frozen=True):
    """
    Attributes:
        entry: the entry with placeholders, in its own spelling.
        values: the replaced values by the placeholders' names, in the form in which they are filled in again.
    """

    hidden: ClassVar = ("values",)

    entry: dict[str, Any]
    values: dict[str, str]


def without_secrets(server: str, entry: Mapping[str, Any], known: Collection[str] = ()) -> PortableEntry:
    """Returns an entry with placeholders for its secrets.

    Args:
        entry: the entry as written in the settings; it is not changed.
        known: values of secrets, which are replaced anywhere in the entry.
    """
    cleaner = _Cleaner(server, [value for value in known if len(value) >= SHORTEST_KNOWN])
    return PortableEntry(cleaner.members(entry), cleaner.values)


class _Cleaner:
    """Replaces the secrets of one entry and collects their values."""

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
        """Replaces a secret value; its scheme ("Bearer ") stays."""
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
            return self._placeholder("URL", text)  # an invalid URL may contain anything
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
        """Returns the placeholder of a value; different values get different names, also if they are arguments without names."""
        plain = f"{self._server}/{re.sub('[^A-Za-z0-9_.-]+', '_', key.lstrip('-')) or 'SECRET'}"
        names = itertools.chain([plain], (f"{plain}_{number}" for number in itertools.count(2)))
        name = next(name for name in names if self.values.get(name, value) == value)
        self.values[name] = value
        return f"${{secret:{name}}}"


def _is_key(segment: str) -> bool:
    return bool(_KEY_IN_PATH.fullmatch(segment))
