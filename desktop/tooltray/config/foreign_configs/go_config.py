"""Reads JSON configs as Go programs do: fields (`encoding/json`) and the variables `$VAR` and `${VAR}`.

Names of fields ignore case, and `null` means absent. A variable that is not set is empty. Any other `$` is text, and our own placeholders
stay as they are: `${secret:NAME}` and `${VAR:-default}`.
"""

import re
from collections.abc import Mapping
from typing import TypeVar

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.config.settings.expansion import VARIABLE_NAME
from tooltray.foundation.files.json_places import Value
from tooltray.foundation.phrases import Phrase

T = TypeVar("T")
_VARIABLE = re.compile(rf"\$(?:\{{({VARIABLE_NAME.pattern})\}}|({VARIABLE_NAME.pattern}))")


class GoFields:
    """The fields of one object, or of none. Each typed getter raises CannotUse for a value of another type.

    Attributes:
        at: index of the object's first character; None without an object.
    """

    def __init__(self, value: Value | None) -> None:
        self._members = {name.lower(): member for name, member in (value.members.items() if value else ()) if member[1].content is not None}
        self.at = value.start if value else None

    def raw(self, name: str) -> object:
        """Returns a field's value of any type; None if it is absent."""
        return self._members[name.lower()][1].content if name.lower() in self._members else None

    def place(self, name: str) -> int | None:
        """Returns the index of the field's name in the text; that of the object if the field is absent."""
        return self._members[name.lower()][0] if name.lower() in self._members else self.at

    def text(self, name: str) -> str:
        """Returns a text; empty if absent."""
        return self._checked(name, str, Phrase("'{field}' must be text", field=name)) or ""

    def flag(self, name: str) -> bool | None:
        return self._checked(name, bool, Phrase("'{field}' must be true or false", field=name))

    def whole_number(self, name: str) -> int:
        """Returns a whole number; 0 if absent."""
        reason = Phrase("'{field}' must be a whole number", field=name)
        if isinstance(self.raw(name), bool):
            raise CannotUse(reason, self.place(name))
        return self._checked(name, int, reason) or 0

    def texts(self, name: str) -> list[str] | None:
        """Returns a list of texts; None if absent, which has another meaning than an empty list."""
        reason = Phrase("'{field}' must be a list of texts", field=name)
        found = self._checked(name, list, reason)
        if found is not None and not all(isinstance(member, str) for member in found):
            raise CannotUse(reason, self.place(name))
        return found if found is None else list(found)

    def inner(self, name: str) -> "GoFields":
        return GoFields(self.inner_value(name))

    def inner_value(self, name: str) -> Value | None:
        """Returns an object with its position; None if absent."""
        if self._checked(name, dict, Phrase("'{field}' must be an object", field=name)) is None:
            return None
        return self._members[name.lower()][1]

    def _checked(self, name: str, kind: type[T], reason: str) -> T | None:
        found = self.raw(name)
        if found is None or isinstance(found, kind):
            return found
        raise CannotUse(reason, self.place(name))


def entry_in_our_spelling(entry: Mapping[str, object]) -> dict[str, object]:
    """Replaces Go's variables in the texts of an entry by our placeholders, which are expanded when a server starts; keys stay."""
    return {key: _in_our_spelling(member) for key, member in entry.items()}


def in_our_spelling(text: str) -> str:
    """Replaces Go's variables in a text by our placeholders."""
    return _VARIABLE.sub(lambda found: f"${{{found[1] or found[2]}:-}}", text)


def _in_our_spelling(value: object) -> object:
    match value:
        case str():
            return in_our_spelling(value)
        case list():
            return [_in_our_spelling(member) for member in value]
        case dict():
            return entry_in_our_spelling(value)
    return value


def filled_in(text: str, environ: Mapping[str, str]) -> str:
    """Expands the variables of a text now."""
    return _VARIABLE.sub(lambda found: environ.get(found[1] or found[2], ""), text)
