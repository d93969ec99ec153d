"""Field values as the log may keep them: plain JSON values, secrets masked, bounded.

Above it: StructuredLog's writer thread, and whoever shows a server's own words; a `Mask` belongs to one thread. Below it: nothing. Does not
know where secrets come from.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any
from urllib.parse import quote

MASKED = "***"
MIN_SECRET_LENGTH = 4  # masking a shorter value would make every line unreadable and protects nothing: it can be guessed
MAX_TEXT_LENGTH = 4096  # characters of one value
MAX_MEMBERS = 100  # of one object or list
MAX_DEPTH = 6

_PLAIN = frozenset({int, float, bool, type(None)})


class Mask:
    """Replaces known secrets in whatever is about to be written."""

    def __init__(self, secrets: Callable[[], Iterable[str]]) -> None:
        """
        Args:
            secrets: gives the values known at the moment; called by `refresh`, in its thread.
        """
        self._secrets = secrets
        self._known: frozenset[str] = frozenset()
        self._forms: tuple[str, ...] = ()
        self._shortest = MAX_TEXT_LENGTH  # nothing is to be done with a text that is shorter

    @property
    def is_needed(self) -> bool:
        """Whether any secret is known that could stand in a text."""
        return bool(self._forms)

    def refresh(self) -> bool:
        """Asks for the secrets again; what was known stays masked if they cannot be told now. Returns whether there are others now."""
        try:
            known = frozenset(self._secrets())
        except Exception:  # somebody else's code, and the log must go on
            return False
        is_news = known is not self._known and known != self._known
        if is_news:
            forms = {form for value in known if len(value) >= MIN_SECRET_LENGTH for form in _forms_of(value)}
            self._forms = tuple(sorted(forms, key=len, reverse=True))  # one secret may be a part of another
            self._shortest = min([MAX_TEXT_LENGTH, *map(len, forms)])
            self._known = known  # last: another thread that sees it finds the forms
        return is_news

    def text(self, text: str, most: int = MAX_TEXT_LENGTH) -> str:
        """A text without secrets, cut to `most` characters."""
        if len(text) < min(self._shortest, most):
            return text
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASKED)
        return text if len(text) <= most else text[:most] + "…"

    def masked(self, text: str) -> str:
        """A text without the secrets that are known at this moment, cut as by `text`."""
        self.refresh()
        return self.text(text)

    def masked_whole(self, text: str) -> str:
        """The same for a text that is not cut."""
        self.refresh()
        return self.text(text, len(text))

    def value(self, value: Any, depth: int = 0) -> Any:
        """A value in JSON's own types; what JSON has no type for becomes text."""
        kind = type(value)  # exact types first: this runs for every field of every record
        if kind is str:
            return self.text(value)
        if kind in _PLAIN:
            return value
        if depth == MAX_DEPTH:
            return "…"
        if isinstance(value, Mapping):
            members = islice(value.items(), MAX_MEMBERS)
            return {self.text(str(key)): self.value(member, depth + 1) for key, member in members}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.value(member, depth + 1) for member in islice(value, MAX_MEMBERS)]
        return self.text(str(value))


def _forms_of(secret: str) -> set[str]:
    """How a secret may stand in a text: as it is, inside JSON or a Python literal, inside a URL."""
    return {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        quote(secret, safe="", errors="replace"),
        quote(secret, errors="replace"),
    }
