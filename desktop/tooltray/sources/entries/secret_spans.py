"""Finds the ranges of a pasted text that look like secrets, also while the text is still being typed and cannot be parsed.

The dialog "Add server" hides these ranges. Since only the text is searched, the ranges may cover more than `pasted` treats as secrets, but
never less.
"""

import re
from collections.abc import Iterator

from tooltray.config.settings.secret_looks import looks_secret
from tooltray.sources.entries.pasted import is_placeholder

Span = tuple[int, int]
"""Start and end of a range, the end exclusive."""

_LONGEST_KEY, _LONGEST_WORD = 80, 4096  # characters; limits against quadratic time on texts with endless words
_KEY = rf"""(?P<key>[A-Za-z_-][\w-]{{0,{_LONGEST_KEY}}})"""
_SCHEME = re.compile(r"(?i:Bearer|Basic|Token|ApiKey)\s+")  # of an Authorization header; the scheme itself is no secret
_PLAIN = rf"""(?P<plain>(?:{_SCHEME.pattern})?(?:<[^>]*>|[^\s"',;&#}}\]]{{1,{_LONGEST_WORD}}}))"""
_VALUE = rf"""(?:"(?P<double>(?:[^"\\]|\\.)*)"?|'(?P<single>[^']*)'?|{_PLAIN})"""
_PAIR = re.compile(rf"""(?<![\w-]){_KEY}["']?\s*[:=]\s*{_VALUE}""")  # KEY=value, "key": "value", ?key=value, Key: Bearer value
_OPTION = re.compile(rf"""(?<![\w-])-{_KEY}(?:\s+|["']\s*,\s*)(?!-){_VALUE}""")  # --key value, "--key", "value"
_WORD = re.compile(r"[^\s\"',]+")
_USER = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}://(?P<plain>[^/\s?#@\"']+)@", re.IGNORECASE)  # user and password of a URL
_GROUPS = ("double", "single", "plain")


def secret_spans(text: str) -> list[Span]:
    """Returns the ranges in order; none touches another."""
    return list(_merged(sorted(_found(text))))


def _found(text: str) -> Iterator[Span]:
    for pattern in (_PAIR, _OPTION):
        at = 0
        while match := pattern.search(text, at):  # continue after the key: a value may itself be a pair
            at = match.end("key")
            if span := _value_of(match):
                yield span
    for match in _WORD.finditer(text):
        if looks_secret("", match[0]) and "://" not in match[0]:
            yield match.span()
    for match in _USER.finditer(text):
        yield match.span("plain")


def _value_of(match: re.Match[str]) -> Span | None:
    group = next(name for name in _GROUPS if match[name] is not None)
    scheme = _SCHEME.match(match[group])
    first, last = match.start(group) + (scheme.end() if scheme else 0), match.end(group)
    value = match.string[first:last]
    is_secret = looks_secret(match["key"].lstrip("-"), value) and not is_placeholder(value)
    return (first, last) if value and is_secret and "://" not in value else None


def _merged(spans: list[Span]) -> Iterator[Span]:
    start = end = -1
    for first, last in spans:
        if first > end:
            if end > start:
                yield start, end
            start, end = first, last
        end = max(end, last)
    if end > start:
        yield start, end
