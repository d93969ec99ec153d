"""Prepares values for the log: plain JSON values of bounded size, with secrets masked."""

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from urllib.parse import quote

MASKED = "***"
MIN_SECRET_LENGTH = 4  # masking a shorter value would make every line unreadable and protect nothing: it can be guessed
MAX_TEXT_LENGTH = 4096  # characters of one value
MAX_MEMBERS = 100  # of one object or list
MAX_DEPTH = 6

_PLAIN = frozenset({int, float, bool, type(None)})


class Mask:
    """A filter that replaces known secrets in values by `***`. Belongs to one thread.

    Attributes:
        is_needed: whether a secret is known that could be in a text.
    """

    def __init__(self, secrets: Callable[[], Iterable[str]]) -> None:
        """
        Args:
            secrets: returns the values known at the moment; called by `refresh`, in its thread.
        """
        self._secrets = secrets
        self._known: frozenset[str] = frozenset()
        self._forms: tuple[str, ...] = ()
        self.is_needed = False
        self._shortest = MAX_TEXT_LENGTH  # a shorter text cannot contain a secret

    def refresh(self) -> bool:
        """Reads the secrets again; keeps the old ones if that fails. Returns whether they have changed."""
        try:
            known = frozenset(self._secrets())
        except Exception:  # a callback of another module, whose failure must not stop the log
            return False
        is_news = known is not self._known and known != self._known
        if is_news:
            forms = {form for value in known if len(value) >= MIN_SECRET_LENGTH for form in _forms_of(value)}
            self._forms = tuple(sorted(forms, key=len, reverse=True))  # one secret may be a part of another
            self.is_needed = bool(forms)
            self._shortest = min([MAX_TEXT_LENGTH, *map(len, forms)])
            self._known = known  # set last: another thread that sees it finds the forms
        return is_news

    def text(self, text: str, most: int = MAX_TEXT_LENGTH) -> str:
        """Returns a text without secrets, cut to `most` characters."""
        if len(text) < min(self._shortest, most):
            return text
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASKED)
        return text if len(text) <= most else text[:most] + "…"

    def masked(self, text: str) -> str:
        """Returns a text without secrets, after `refresh`, cut like by `text`."""
        self.refresh()
        return self.text(text)

    def masked_whole(self, text: str) -> str:
        """Returns a text without secrets, after `refresh`, not cut."""
        self.refresh()
        return self.text(text, len(text))

    def fields(self, fields: Mapping[str, object], depth: int = 0) -> dict[str, object]:
        """Converts the fields of a record, as `value` does."""
        return {self.text(str(key)): self.value(member, depth + 1) for key, member in islice(fields.items(), MAX_MEMBERS)}

    def value(self, value: object, depth: int = 0) -> object:
        """Converts a value into JSON types, bounded and masked; objects of other types become text."""
        if type(value) is str:  # exact types first: this runs for every field of every record
            return self.text(value)
        if type(value) in _PLAIN:
            return value
        if depth == MAX_DEPTH:
            return "…"
        if isinstance(value, Mapping):
            return self.fields(value, depth)
        if isinstance(value, list | tuple | set | frozenset):
            return [self.value(member, depth + 1) for member in islice(value, MAX_MEMBERS)]
        return self.text(str(value))


def _forms_of(secret: str) -> set[str]:
    """Returns the spellings of a secret in a text: plain, in JSON, in a Python literal, in a URL."""
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        quote(secret, safe="", errors="replace"),
        quote(secret, errors="replace"),
    }
