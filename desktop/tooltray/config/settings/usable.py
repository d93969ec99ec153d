"""Reads the usable parts of a value, and reports each unusable part as a Slip, with its line in the file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import msgspec
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tooltray.foundation.errors import Problem
from tooltray.foundation.files.json_places import CannotRead, Lines, Value, read
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.files import FileProblem

CORRECT_IT = Phrase("Correct it in settings.json")
MOST_REASONS = 8  # of one part; the next ones are shown once these are corrected
MAX_VALUES = 100_000  # in the file; finding lines among more takes over a second, so problems have none

Model = TypeVar("Model", bound=BaseModel)
Path = tuple[str | int, ...]
"""The keys and places in lists that lead to a value."""

MUST_BE_OBJECT, MUST_BE_LIST, MUST_BE_TEXT = Phrase("must be an object"), Phrase("must be a list"), Phrase("must be text")
MUST_BE_NUMBER = Phrase("must be a number")
_IN_WORDS = {
    "bool_type": Phrase("must be true or false"),
    "dict_type": MUST_BE_OBJECT,
    "extra_forbidden": Phrase("is not known here"),
    "finite_number": MUST_BE_NUMBER,
    "float_type": MUST_BE_NUMBER,
    "int_type": Phrase("must be a whole number"),
    "mapping_type": MUST_BE_OBJECT,
    "missing": Phrase("is missing"),
    "model_type": MUST_BE_OBJECT,
    "string_too_long": Phrase("is too long"),
    "string_type": MUST_BE_TEXT,
    "too_long": Phrase("has too many values"),
    "too_short": Phrase("must not be empty"),
    "tuple_type": MUST_BE_LIST,
}
_BOUNDS: Mapping[str, Callable[[Mapping[str, object]], Phrase]] = {
    "greater_than": lambda bounds: Phrase("must be more than {least}", least=bounds["gt"]),
    "greater_than_equal": lambda bounds: Phrase("must be {least} or more", least=bounds["ge"]),
    "less_than_equal": lambda bounds: Phrase("must be {most} or less", most=bounds["le"]),
}


class Slip(msgspec.Struct, frozen=True):
    """A part of the settings that cannot be used.

    Attributes:
        path: of what is wrong; the path of a missing field leads to nothing in the file.
        entry: the server that is not used because of the slip; empty: none.
    """

    problem: Problem
    path: Path = ()
    entry: str = ""


def in_words(error: ValidationError) -> str:
    """Returns why a value was refused; values are left out, since the user may have typed a key into them."""
    return joined([_one_in_words(details) for details in _details(error)])


def places_in_words(error: ValidationError) -> list[tuple[Path, str]]:
    """Returns why a value was refused, each reason with its place; no value is quoted."""
    return [(details["loc"], _why(details)) for details in _details(error)]


def first_path(error: ValidationError) -> Path:
    """Returns the place of the first refused value; empty: the whole."""
    return _details(error)[0]["loc"]


def joined(reasons: Sequence[str]) -> str:
    """Returns one or more reasons as a sentence."""
    text = reasons[0]
    for other in reasons[1:MOST_REASONS]:
        text = Phrase("{reason}; {other}", reason=text, other=other)
    more = len(reasons) - MOST_REASONS
    return Phrase("{reason}; and {count} more", reason=text, count=more) if more > 0 else text


def of_field(place: str, reason: str) -> str:
    """Returns a reason with the part of the settings that it is about."""
    return Phrase("{field}: {reason}", field=printable(place), reason=reason)


def of_member(place: str, reason: str) -> str:
    """Returns a reason with the part of a part that it is about; `reason` begins with the inner part's name."""
    if isinstance(reason, Phrase) and reason.fields.keys() == {"field", "reason"}:
        inner: str = reason.fields["reason"]  # type: ignore[assignment]
        return of_field(f"{place}.{reason.fields['field']}", inner)
    return of_field(place, reason)


def printable(text: str) -> str:
    """Returns a text without invisible characters and characters that turn the direction of writing."""
    return "".join(character if character.isprintable() else "?" for character in text)


def read_fields(model: type[Model], given: Mapping[str, object]) -> tuple[Model, dict[str, list[str]]]:
    """Reads an object from its usable fields.

    Args:
        model: one without required fields.

    Returns:
        The object, and why the other fields cannot be used, by their names as written.
    """
    usable, odd = dict(given), dict[str, list[str]]()
    while True:
        try:
            return model.model_validate(usable), odd
        except ValidationError as error:
            for details in _details(error):
                odd.setdefault(str(details["loc"][0]), []).append(_one_in_words(details))
            usable = {name: value for name, value in usable.items() if name not in odd}


def read_members(model: type[Model], given: Mapping[str, object], report: Callable[[str, str], None]) -> dict[str, Model]:
    """Reads the usable members of an object; `null` does not count as a member.

    Args:
        report: called with the name of each unusable member, and why it cannot be used.
    """
    usable: dict[str, Model] = {}
    for name, value in given.items():
        try:
            if value is not None:
                usable[name] = model.model_validate(value)
        except ValidationError as error:
            report(name, joined([_one_in_words(details, name) for details in _details(error)]))
    return usable


def read_texts(key: str, given: object, slips: list[Slip]) -> tuple[str, ...]:
    """Reads the texts of a list."""
    if given is None:
        return ()
    if not isinstance(given, list):
        slips.append(not_used(key, of_field(key, MUST_BE_LIST)))
        return ()
    if odd := [place for place, value in enumerate(given) if not isinstance(value, str)]:
        message = joined([of_field(key, of_field(str(place), MUST_BE_TEXT)) for place in odd])
        slips.append(Slip(Problem(not_fully_used(key), message, CORRECT_IT), (key, odd[0])))
    return tuple(value for value in given if isinstance(value, str))


def not_used(key: str, message: str, meanwhile: str = "", *, path: Path = ()) -> Slip:
    """Returns the slip for an unused part.

    Args:
        key: the part, with dots between the keys that lead to it.
        meanwhile: what counts until it is corrected.
        path: of the wrong place in it; empty: the whole.
    """
    return Slip(
        Problem(Phrase("{field} in the settings is not used", field=key), message, correct_it(meanwhile)), path or tuple(key.split("."))
    )


def not_fully_used(key: str) -> str:
    return Phrase("{field} in the settings is not fully used", field=key)


def correct_it(meanwhile: str) -> str:
    """Returns the hint to correct a part. `meanwhile`: what counts until then; empty: nothing worth mentioning."""
    return Phrase("{what}; until then {meanwhile}", what=CORRECT_IT, meanwhile=meanwhile) if meanwhile else CORRECT_IT


def _details(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_input=False)


def _one_in_words(details: ErrorDetails, *above: str) -> str:
    place = ".".join(str(part) for part in (*above, *details["loc"]))
    return of_field(place, _why(details)) if place else _why(details)


def _why(details: ErrorDetails) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "literal_error":
        return Phrase("must be one of {values}", values=context["expected"].replace(" or ", ", "))
    if kind == "value_error":  # of a model: what it raises may be a phrase
        reason: str = context["error"].args[0]
        return reason
    return _BOUNDS[kind](context) if kind in _BOUNDS else _IN_WORDS.get(kind) or details["msg"]


class SettingsPlaces:
    """Finds the lines of slips in `settings.json`; parses the text only if there is a slip.

    Args:
        content: of the file, JSON.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content

    def located(self, slips: Iterable[Slip]) -> tuple[FileProblem, ...]:
        """Returns the problems of the slips, with their lines."""
        return tuple(_located(slip, self._line_of(slip.path)) for slip in slips)

    def repeated(self, key: str) -> str:
        """Describes a key that occurs twice in one object."""
        at = next((at for found, at in self._root.repeated() if found == key), None) if self._root else None
        return _with_line(self._line(at), Phrase("'{name}' stands here a second time; the last one counts", name=printable(key)))

    @cached_property
    def _text(self) -> str:
        return self._content.decode("utf-8-sig")

    @cached_property
    def _root(self) -> Value | None:
        try:
            return read(self._text, most_values=MAX_VALUES)
        except CannotRead:
            return None

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._text)

    def _line_of(self, path: Path) -> int:
        """Returns the line of a part, or of the object that lacks it."""
        value, at = self._root, None
        for step in path:
            if value and step in value.members:
                at, value = value.members[str(step)]
            elif value and isinstance(step, int) and step < len(value.items):
                value = value.items[step]
                at = value.start
            else:
                break
        return self._line(at)

    def _line(self, at: int | None) -> int:
        """Returns a line; 0 if it is unknown."""
        return 0 if at is None else self._lines.place(at)[0]


def _located(slip: Slip, line: int) -> FileProblem:
    problem = slip.problem
    return FileProblem(Problem(problem.title, _with_line(line, problem.message), problem.hint), line, slip.entry)


def _with_line(line: int, reason: str) -> str:
    return Phrase("line {line}: {reason}", line=line, reason=reason) if line else reason
