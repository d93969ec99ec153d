"""What of a part of the settings can be used, where some of it cannot: the rest counts, and each slip is told by its place.

Above it: settings, with the models. Below it: nothing. Knows no field of the settings.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from tooltray.errors import Problem

CORRECT_IT = "Correct it in settings.json"

Model = TypeVar("Model", bound=BaseModel)

_IN_WORDS = {
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "float_type": "must be a number",
    "greater_than": "must be more than 0",
    "greater_than_equal": "must be 0 or more",
    "int_type": "must be a whole number",
    "less_than_equal": "is too large",
    "mapping_type": "must be an object",
    "missing": "is missing",
    "model_type": "must be an object",
    "string_type": "must be text",
    "tuple_type": "must be a list",
}


def in_words(error: ValidationError) -> str:
    """Why a value was refused; values are left out, since somebody may have typed a key into them."""
    return "; ".join(_one_in_words(details) for details in _details(error))


def read_fields(model: type[Model], given: Mapping[str, Any]) -> tuple[Model, dict[str, list[str]]]:
    """Reads an object by those of its fields that can be used.

    Args:
        model: one in which no field has to be given.

    Returns:
        It, and why the others cannot be used, by their names as written.
    """
    usable, odd = dict(given), dict[str, list[str]]()
    while True:
        try:
            return model.model_validate(usable), odd
        except ValidationError as error:
            for details in _details(error):
                odd.setdefault(str(details["loc"][0]), []).append(_one_in_words(details))
            usable = {name: value for name, value in usable.items() if name not in odd}


def read_members(kind: Any, given: Mapping[str, Any], report: Callable[[str, str], None]) -> dict[str, Any]:
    """Reads those members of an object that can be used; `null` is no member.

    Args:
        report: called with the name of each other one, and why it cannot be used.
    """
    adapter, usable = TypeAdapter(kind), dict[str, Any]()
    for name, value in given.items():
        try:
            if value is not None:
                usable[name] = adapter.validate_python(value)
        except ValidationError as error:
            report(name, "; ".join(_one_in_words(details, name) for details in _details(error)))
    return usable


def read_texts(key: str, given: Any, problems: list[Problem]) -> tuple[str, ...]:
    """Reads the texts of a list."""
    if given is None:
        return ()
    if not isinstance(given, list):
        problems.append(not_used(key, f"{key}: must be a list"))
        return ()
    if odd := [str(place) for place, value in enumerate(given) if not isinstance(value, str)]:
        message = "; ".join(f"{key}: {place}: must be text" for place in odd)
        problems.append(Problem(f"{key} in the settings is not fully used", message, CORRECT_IT))
    return tuple(value for value in given if isinstance(value, str))


def not_used(key: str, message: str, meanwhile: str = "") -> Problem:
    """
    Args:
        meanwhile: what counts until it is corrected.
    """
    return Problem(f"{key} in the settings is not used", message, f"{CORRECT_IT}; until then {meanwhile}" if meanwhile else CORRECT_IT)


def _details(error: ValidationError) -> list[Any]:
    return list(error.errors(include_url=False, include_context=False, include_input=False))


def _one_in_words(details: Any, *above: str) -> str:
    place = ".".join(str(part) for part in (*above, *details["loc"]))
    reason = _IN_WORDS.get(details["type"], details["msg"].removeprefix("Value error, "))
    return f"{place}: {reason}" if place else reason
