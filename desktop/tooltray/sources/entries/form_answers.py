"""Checks a user's values for the fields of a form, for servers from the registry and for bundles."""

import json
import re
from collections.abc import Mapping, Sequence

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.entries import FieldValue, FormField

MAX_VALUES = 64  # of one field that takes several values
MAX_VALUE = 32768  # characters; a key in PEM form has a few thousand
REFERENCE = re.compile(r"\$\{[^}]+\}")


def read_answers(fields: Sequence[FormField], values: Mapping[str, FieldValue]) -> dict[str, tuple[str, ...]]:
    """Returns the texts for each field, by its key; no texts for a field that is left empty.

    Args:
        values: by key; a field without a value has its default. A whole `${...}` counts as a value of every kind.

    Raises:
        TooltrayError: a value is missing or cannot be used; names the field, and never a secret's value.
    """
    known = {field.key for field in fields}
    if (unknown := next((key for key in values if key not in known), None)) is not None:
        keys = Phrase("It asks for: {keys}", keys=", ".join(known)) if known else Phrase("It asks for nothing")
        raise TooltrayError(Phrase("Nothing is asked for under '{key}'", key=ascii(unknown[:80])[1:-1]), keys)
    return {field.key: _texts_of(field, values.get(field.key)) for field in fields}


def read_number(text: str) -> float | None:
    """Returns a number; None for any other text, and for a number with more digits than a float."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < 1e15 else None  # nan is not a number, either


def unusable(field: FormField, why: str) -> TooltrayError:
    return TooltrayError(Phrase("The value of '{field}' cannot be used", field=field.label), why)


def _texts_of(field: FormField, given: FieldValue | None) -> tuple[str, ...]:
    value = field.default if given is None else given
    several = [value] if isinstance(value, str | float | int) else list(value or ())
    if len(several) > 1 and not field.is_list:
        raise unusable(field, Phrase("only one value can be given"))
    texts = tuple(text for text in (_text_of(field, each) for each in several[: MAX_VALUES + 1]) if text.strip())
    if len(texts) > MAX_VALUES:
        raise unusable(field, Phrase("more than {most} values", most=MAX_VALUES))
    if field.is_required and not texts:
        raise TooltrayError(Phrase("'{field}' is missing", field=field.label), field.description)
    return texts


def _text_of(field: FormField, given: str | float | bool) -> str:
    text = given if isinstance(given, str) else json.dumps(int(given) if isinstance(given, float) and given.is_integer() else given)
    if len(text) > MAX_VALUE or "\0" in text:
        raise unusable(field, Phrase("it is too long, or has a character in it that cannot be given"))
    if REFERENCE.fullmatch(text):
        return text
    if field.kind == "choice" and text and text not in field.choices:
        raise unusable(field, Phrase("it must be one of {choices}", choices=", ".join(field.choices)))
    if field.kind == "number" and text.strip():
        _check_number(field, read_number(text))
    if field.kind == "boolean":
        text = text.strip().lower()
        if text not in ("", "true", "false"):
            raise unusable(field, Phrase("it must be true or false"))
    return text


def _check_number(field: FormField, number: float | None) -> None:
    if number is None:
        raise unusable(field, Phrase("it must be a number"))
    if field.minimum is not None and number < field.minimum:
        raise unusable(field, Phrase("it is at least {least}", least=f"{field.minimum:g}"))
    if field.maximum is not None and number > field.maximum:
        raise unusable(field, Phrase("it is at most {most}", most=f"{field.maximum:g}"))
