"""Texts of the engine that a window can show in the user's language: ui looks the template up in its catalogues."""

from collections.abc import Mapping
from typing import Any, Self, overload

import msgspec

from tooltray.foundation.verbs import JsonObject


class Phrase(str):
    """A text in English that keeps its template. Everywhere else it is that text; cutting or joining it gives a plain one.

    Attributes:
        template: a whole sentence or a part of one, with `{name}` for each value.
        fields: the values; one of them may be a phrase itself.
    """

    __slots__ = ("fields", "template")

    template: str
    fields: Mapping[str, object]

    def __new__(cls, template: str, **fields: object) -> Self:
        phrase = super().__new__(cls, template.format(**fields))
        phrase.template, phrase.fields = template, fields
        return phrase

    def filled(self, **fields: object) -> Self:
        """Returns the same text with these values."""
        return type(self)(self.template, **fields)

    def __deepcopy__(self, memo: dict[int, Any]) -> str:
        return str(self)


def plain_text(value: object) -> str:
    """Converts a phrase into a plain text, for encoders that take no subclasses.

    Raises:
        NotImplementedError: it is something else, which they cannot write either.
    """
    if isinstance(value, Phrase):
        return str(value)
    raise NotImplementedError(f"a {type(value).__name__} cannot be encoded")


@overload
def as_json(value: msgspec.Struct) -> JsonObject: ...
@overload
def as_json(value: object) -> Any: ...
def as_json(value: object) -> Any:
    """Returns snapshots, and lists and mappings of them, as plain JSON values; enums as their values, phrases as their text."""
    return msgspec.to_builtins(value, enc_hook=plain_text)
