"""Replaces the secrets in a server's entry, or in a whole file, by placeholders: for an export to another machine, and before it is saved.

A plain value that looks like a secret becomes `${secret:SERVER/KEY}`, as when a server is added. When in doubt, a value is replaced: a key
must not get into a file that people send around, and the user sees in the list of secrets which values are missing.
"""

import itertools
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tooltray.config.foreign_configs.mcp_json import HOLDERS
from tooltray.config.settings.secret_looks import KEY_IN_PATH, looks_secret
from tooltray.foundation.files.json_edit import with_member
from tooltray.foundation.files.json_places import read
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.verbs import JsonMapping, JsonObject

SHORTEST_KNOWN = 6  # characters of a known value that is searched in other texts; shorter ones occur in harmless words
_SCHEME = lazy_pattern(r"((?:Bearer|Basic|Token|ApiKey)\s+)?(.*)", re.IGNORECASE | re.DOTALL)
_PLACEHOLDER = lazy_pattern(r"\$\{")
_URL_FIELDS = ("url", "baseUrl")
_ARGUMENT_FIELDS = ("args", "startupArgsTemplate")
_FILLED_FIELDS = (*_URL_FIELDS, *_ARGUMENT_FIELDS, "env", "headers", "customHeaders", "oauth")  # where placeholders are filled in
_SECRET_NAME = lazy_pattern(r"\$\{secret:([^{}]+)\}")


class PortableEntry(HidesFields, frozen=True):
    """
    Attributes:
        entry: the entry with placeholders, in its own spelling.
        values: the replaced values by the placeholders' names, in the form in which they are filled in again.
    """

    hidden: ClassVar = ("values",)

    entry: JsonObject
    values: dict[str, str]


def without_secrets(
    server: str, entry: JsonMapping, known: Collection[str] = (), *, plain: Collection[str] = (), taken: Collection[str] = ()
) -> PortableEntry:
    """Returns an entry with placeholders for its secrets.

    Args:
        entry: the entry as written in the settings; it is not changed.
        known: values of secrets, which are replaced anywhere in the entry.
        plain: values that stay as they are.
        taken: names that must not be used for placeholders.
    """
    cleaner = _Cleaner(server, [value for value in known if len(value) >= SHORTEST_KNOWN], plain, taken)
    return PortableEntry(cleaner.members(entry), cleaner.values)


def with_new_secrets_moved(
    server: str, entry: JsonMapping, before: JsonMapping, *, plain: Collection[str] = (), taken: Collection[str] = ()
) -> tuple[JsonObject, dict[str, str]]:
    """Returns an entry to save, with placeholders for the secrets that were typed into it, and these secrets by their names.

    Args:
        before: the entry as it is saved now; a secret that it has in plain text stays so.
        plain: values that the user chose to save in plain text.
        taken: names of secrets that exist.
    """
    filled = {key: value for key, value in entry.items() if key in _FILLED_FIELDS}
    known = {*plain, *without_secrets(server, before).values.values()}
    found = without_secrets(server, filled, plain=known, taken={*taken, *_SECRET_NAME.findall(json.dumps(entry, default=str))})
    return {**entry, **found.entry}, found.values


class _Cleaner:
    """Replaces the secrets of one entry and collects their values."""

    def __init__(self, server: str, known: list[str], plain: Collection[str], taken: Collection[str]) -> None:
        self._server, self._known, self._plain, self._taken = server, known, plain, taken
        self.values: dict[str, str] = {}

    def members(self, entry: JsonMapping) -> JsonObject:
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
        """Returns the placeholder of a value, or a value that stays plain; different values get different names, also if they are arguments
        without names.
        """
        if value in self._plain:
            return value
        plain = f"{self._server}/{re.sub('[^A-Za-z0-9_.-]+', '_', key.lstrip('-')) or 'SECRET'}"
        names = itertools.chain([plain], (f"{plain}_{number}" for number in itertools.count(2)))
        name = next(name for name in names if name not in self._taken and self.values.get(name, value) == value)
        self.values[name] = value
        return f"${{secret:{name}}}"


def _is_key(segment: str) -> bool:
    return bool(KEY_IN_PATH.fullmatch(segment))


def filled_in(part: Any, values: Mapping[str, str]) -> Any:
    """Returns a part of an entry with values in the place of placeholders, each once: strangers may have written the values, and
    values that refer to each other would double a text with each of them.

    Args:
        values: by the whole placeholder, such as `${secret:NAME}`.
    """
    if not values:
        return part
    return _filled(part, re.compile("|".join(map(re.escape, values))), values)


def _filled(part: Any, placeholders: re.Pattern[str], values: Mapping[str, str]) -> Any:
    match part:
        case str():
            return placeholders.sub(lambda found: values[found[0]], part)
        case Mapping():
            return {key: _filled(each, placeholders, values) for key, each in part.items()}
        case list() | tuple():
            return [_filled(each, placeholders, values) for each in part]
    return part


def clean_text(content: bytes) -> bytes | None:
    """Returns a file's content with placeholders for its secrets.

    Args:
        content: of `settings.json` or a project's `.mcp.json`.

    Returns:
        The content; None if it cannot be parsed, so that its secrets cannot be detected.
    """
    try:
        text = content.decode()
        for path, cleaned in _cleaned(_document(text)):
            text = with_member(text, path, cleaned)
        return text.encode()
    except (ValueError, RecursionError):
        return None


def _document(text: str) -> Any:
    try:
        return json.loads(text)  # a hundred times faster than `read`, which also accepts comments
    except ValueError:
        return read(text).content


def _cleaned(document: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yields the path and the new value of each member that contains secrets."""
    if not isinstance(document, dict):
        raise ValueError("no object")
    for key, value in document.items():
        if key in HOLDERS and isinstance(value, dict):
            for name, entry in value.items():
                yield from _if_changed((key, name), entry, name)
        else:
            yield from _if_changed((key,), value, key)


def _if_changed(path: tuple[str, ...], value: Any, server: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    cleaned = without_secrets(server, value if isinstance(value, Mapping) else {path[-1]: value}).entry
    now = cleaned if isinstance(value, Mapping) else cleaned[path[-1]]
    if now != value:
        yield path, now
