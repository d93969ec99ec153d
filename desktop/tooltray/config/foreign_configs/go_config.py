"""Reads JSON configs as Go programs do: fields (`encoding/json`) and variables (`os.ExpandEnv`).

Above it: tbxark, reading. Below it: json_places, expansion. Knows no field of any program, and reads no environment: it is an argument.

Names of fields ignore case, and `null` means absent. Go's rules for `$VAR` and `${VAR}` that differ from a shell's:

- A variable that is not set is empty.
- `$` and one of `*#$@!?-0123456789` is a variable of that name, which is never set; so it disappears, and `$$` with it.
- `${}` and an unclosed `${` disappear. A `$` before anything else is text.

Our own placeholders stay as they are: `${secret:NAME}` and `${VAR:-default}`; in Go they would be empty.
"""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from tooltray.config.foreign_configs.config_source import CannotUse
from tooltray.config.settings.expansion import VARIABLE_NAME, is_placeholder
from tooltray.foundation.files.json_places import Value
from tooltray.foundation.phrases import Phrase

T = TypeVar("T")
_SIMPLE = r"([A-Za-z_][A-Za-z0-9_]*)|[*#$@!?\-0-9]"
_VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|" + _SIMPLE + ")")
_NEVER_CLOSED = re.compile(r"\$(?:\{()|" + _SIMPLE + ")")
_TEXT_OR_VARIABLE = re.compile(r'"(?:[^"\\\n]|\\.)*"?|(\$\{[A-Za-z_]\w*\}|\$[A-Za-z_]\w*)', re.ASCII | re.DOTALL)


class GoFields:
    """The fields of one object, or of none. Each typed getter raises CannotUse for a value of another type.

    Attributes:
        at: index of the object's first character; None without an object.
    """

    def __init__(self, value: Value | None) -> None:
        self._members = {name.lower(): member for name, member in (value.members.items() if value else ()) if member[1].content is not None}
        self.at = value.start if value else None

    def raw(self, name: str) -> object:
        """A field's value of whatever type; None: it is absent."""
        return self._members[name.lower()][1].content if name.lower() in self._members else None

    def place(self, name: str) -> int | None:
        """Index of the field's name in the text; that of the object if the field is absent."""
        return self._members[name.lower()][0] if name.lower() in self._members else self.at

    def text(self, name: str) -> str:
        """Empty if absent."""
        return self._checked(name, str, Phrase("'{field}' must be text", field=name)) or ""

    def flag(self, name: str) -> bool | None:
        return self._checked(name, bool, Phrase("'{field}' must be true or false", field=name))

    def whole_number(self, name: str) -> int:
        """0 if absent."""
        reason = Phrase("'{field}' must be a whole number", field=name)
        if isinstance(self.raw(name), bool):
            raise CannotUse(reason, self.place(name))
        return self._checked(name, int, reason) or 0

    def texts(self, name: str) -> list[str] | None:
        """None if absent, which means something else than an empty list."""
        reason = Phrase("'{field}' must be a list of texts", field=name)
        found = self._checked(name, list, reason)
        if found is not None and not all(isinstance(member, str) for member in found):
            raise CannotUse(reason, self.place(name))
        return found if found is None else list(found)

    def inner(self, name: str) -> "GoFields":
        return GoFields(self.inner_value(name))

    def inner_value(self, name: str) -> Value | None:
        """An object with its position; None if absent."""
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
    return _replaced(text, _ours)


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
    return _replaced(text, lambda found: environ.get(found[1] or found[2] or "", ""))


def filled_in_outside_texts(text: str, environ: Mapping[str, str]) -> str:
    """Expands variables outside of JSON strings, where they stand for numbers and the like: only then can the text be parsed."""
    return _TEXT_OR_VARIABLE.sub(lambda found: filled_in(found[1], environ) if found[1] else found[0], text)


def _replaced(text: str, replace: Callable[[re.Match[str]], str]) -> str:
    """In two parts: searching for a closing brace behind the last one would take quadratic time."""
    end = text.rfind("}") + 1
    return _VARIABLE.sub(replace, text[:end]) + _NEVER_CLOSED.sub(replace, text[end:])


def _ours(found: re.Match[str]) -> str:
    name = found[1] or found[2] or ""
    if VARIABLE_NAME.fullmatch(name):
        return f"${{{name}:-}}"
    return found[0] if is_placeholder(name) else ""
