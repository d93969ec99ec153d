"""The base of all models of JSON in the settings, and descriptions of wrong values in words.

JSON is in camel case, `null` means "not given", and unknown members stay.
"""

from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from tooltray.foundation.phrases import Phrase

Path = tuple[str | int, ...]
"""The keys and places in lists that lead to a value."""
CORRECT_IT = Phrase("Correct it in settings.json")
MUST_BE_OBJECT = Phrase("must be an object")
MOST_REASONS = 8  # of one part; the next ones are shown once these are corrected

_MUST_BE_NUMBER = Phrase("must be a number")
_IN_WORDS = {
    "bool_type": Phrase("must be true or false"),
    "dict_type": MUST_BE_OBJECT,
    "extra_forbidden": Phrase("is not known here"),
    "finite_number": _MUST_BE_NUMBER,
    "float_type": _MUST_BE_NUMBER,
    "int_type": Phrase("must be a whole number"),
    "mapping_type": MUST_BE_OBJECT,
    "missing": Phrase("is missing"),
    "model_type": MUST_BE_OBJECT,
    "string_too_long": Phrase("is too long"),
    "string_type": Phrase("must be text"),
    "too_long": Phrase("has too many values"),
    "too_short": Phrase("must not be empty"),
    "tuple_type": Phrase("must be a list"),
}
_BOUNDS: Mapping[str, Callable[[Mapping[str, object]], Phrase]] = {
    "greater_than": lambda bounds: Phrase("must be more than {least}", least=bounds["gt"]),
    "greater_than_equal": lambda bounds: Phrase("must be {least} or more", least=bounds["ge"]),
    "less_than_equal": lambda bounds: Phrase("must be {most} or less", most=bounds["le"]),
}


def without_null(value: object) -> object:
    """Returns an object without its members that are `null`; anything else unchanged."""
    return {key: member for key, member in value.items() if member is not None} if isinstance(value, Mapping) else value


class JsonModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", alias_generator=to_camel, populate_by_name=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: object) -> object:
        return without_null(data)


def in_words(error: ValidationError) -> str:
    """Returns why a value was refused; values are left out, since the user may have typed a key into them."""
    return joined([of_place(path, reason) for path, reason in places_in_words(error)])


def places_in_words(error: ValidationError) -> list[tuple[Path, str]]:
    """Returns why a value was refused, each reason with its place; no value is quoted."""
    return [(details["loc"], _why(details)) for details in error.errors()]


def joined(reasons: Sequence[str]) -> str:
    """Returns one or more reasons as a sentence."""
    text = reasons[0]
    for other in reasons[1:MOST_REASONS]:
        text = Phrase("{reason}; {other}", reason=text, other=other)
    more = len(reasons) - MOST_REASONS
    return Phrase("{reason}; and {count} more", reason=text, count=more) if more > 0 else text


def of_place(path: Path, reason: str) -> str:
    """Returns a reason with the place that it is about. `path`: empty: the whole value."""
    return Phrase("{field}: {reason}", field=printable(".".join(map(str, path))), reason=reason) if path else reason


def printable(text: str) -> str:
    """Returns a text with `?` for control characters, line ends and marks of writing direction; a Phrase without any stays one."""
    return text if text.isprintable() else "".join(character if character.isprintable() else "?" for character in text)


def _why(details: ErrorDetails) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "literal_error":
        return Phrase("must be one of {values}", values=context["expected"].replace(" or ", ", "))
    if kind == "value_error":  # raised by a model, and may be a phrase
        reason: str = context["error"].args[0]
        return reason
    return _BOUNDS[kind](context) if kind in _BOUNDS else _IN_WORDS.get(kind) or details["msg"]
