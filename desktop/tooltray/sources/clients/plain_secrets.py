"""Which values of an entry stand in its file in plain text and look like secrets, and the entry in one line without them.

Above it: client_scanner. Below it: entries/pasted, which says what looks like a secret. Pure. Names leave this module, values never.
"""

import re
import shlex
from collections.abc import Iterator, Mapping

import msgspec

from tooltray.config.settings.secret_looks import looks_secret
from tooltray.sources.clients.entry_words import Entry, headers_of, url_of, variables_of, words_of
from tooltray.sources.entries.pasted import is_placeholder, secrets_in
from tooltray.sources.entries.pasted_names import ASSIGNMENT
from tooltray.sources.entries.pasted_urls import parameters, without_keys

HIDDEN = "…"
MAX_TARGET = 300  # characters of a line that a person reads; the longest that were seen have a hundred

_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_HEADER_OPTIONS = ("--header", "-H")
_REFERENCE = re.compile(r"\$\{\{[^}]*\}\}|\$\{[^}]*\}|\{(?:env|file):[^}]*\}")
_NOTHING = re.compile(r"(?:(?:Bearer|Basic|Token|ApiKey)\b)?\s*(?:\$[A-Za-z_]\w*|%\w+%)?\s*", re.IGNORECASE)
_NESTED = ("auth", "oauth")


class _Word(msgspec.Struct, frozen=True):
    """A word of a command line.

    Attributes:
        shown: without what looks like a secret.
        secret: the name of what was left out; empty: nothing.
    """

    shown: str
    secret: str = ""


def plain_secrets_of(entry: Entry) -> tuple[str, ...]:
    """Names of variables, headers, parameters and options whose values look like secrets; an argument without a name has its number."""
    config = {"env": _plain(variables_of(entry)), "headers": _plain(headers_of(entry)), "url": url_of(entry)}
    found = [key for key, value in secrets_in(config).items() if value]
    found += [key for key, value in _signing_in(entry).items() if _is_secret(key, value)]
    found += [word.secret for word in _words(entry) if word.secret]
    return tuple(dict.fromkeys(found))


def target_of(entry: Entry) -> str:
    """The command line or the URL, without secrets, in one line."""
    url = url_of(entry)
    text = without_keys(url) if url else shlex.join(word.shown for word in _words(entry)).replace(f"'{HIDDEN}'", HIDDEN)
    return " ".join(text.split())[:MAX_TARGET]


def _plain(values: Mapping[str, str]) -> dict[str, str]:
    """The values as far as they stand there themselves."""
    return {key: _without_references(value) for key, value in values.items()}


def _without_references(value: str) -> str:
    """A value without what only names a variable, an input or a file that holds it; empty if nothing else is in it."""
    rest = _REFERENCE.sub("", value)
    return "" if _NOTHING.fullmatch(rest) else rest


def _signing_in(entry: Entry) -> dict[str, str]:
    """What some clients keep for signing in, such as the secret of an OAuth client."""
    groups = (entry.get(key) for key in _NESTED)
    pairs = (pair for group in groups if isinstance(group, Mapping) for pair in group.items())
    return {str(key): value for key, value in pairs if isinstance(value, str)}


def _words(entry: Entry) -> Iterator[_Word]:
    before = ""
    for number, word in enumerate(words_of(entry)):
        yield _word(word, before, number) if number else _Word(word)
        before = word


def _word(word: str, before: str, number: int) -> _Word:
    """
    Args:
        before: the word in front of it, which may say what it is.
        number: of the argument, from 1.
    """
    if _URL.fullmatch(word):
        return _url(word)
    option, equals, value = word.partition("=")
    if equals and (option.startswith("-") or ASSIGNMENT.match(word)):
        return _Word(f"{option}={HIDDEN}", option) if _is_secret(option, value) else _Word(word)
    name, colon, content = word.partition(":")
    if colon and before in _HEADER_OPTIONS:
        return _Word(f"{name}: {HIDDEN}", name) if _is_secret(name, content.strip()) else _Word(word)
    if word.startswith("-") or not _is_secret(before if before.startswith("-") else "", word):
        return _Word(word)
    return _Word(HIDDEN, before if before.startswith("-") else f"#{number}")


def _url(word: str) -> _Word:
    bare = without_keys(word)
    named = next((key for key, value in parameters(word) if _is_secret(key, value)), "")
    is_signed_in = bare.partition("?")[0] != re.split("[?#]", word)[0]
    return _Word(bare if named or is_signed_in else word, named or ("password" if is_signed_in else ""))


def _is_secret(key: str, value: str) -> bool:
    rest = _without_references(value)
    return bool(rest) and looks_secret(key.lstrip("-"), rest) and not is_placeholder(rest)
