"""Checks a value by a JSON Schema of a server: its references are never fetched, its patterns are tried only where they are certain to end,
and the check ends after a number of keywords, not of seconds, so that it finds the same on every machine. What is not checked here the
server checks.
"""

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol
from urllib.parse import urlsplit

from tooltray.foundation.lazy_patterns import lazy_pattern

MOST_KEYWORDS = 25_000  # 0.2 s, as measured: the user waits for the press of a button; real schemas take a hundredth of it
LONGEST_PATTERN, LONGEST_MATCHED = 200, 256  # characters; with at most two repetitions 256 signs take 0.2 s at worst
MOST_REPEATS = 2
_REPEATED_GROUP = lazy_pattern(r"\)\s*(?:[*+?]|\{\d)")
_REPEAT = lazy_pattern(r"(?<!\\)[*+]|\{\d*,\d*\}")
_BACKREFERENCE = lazy_pattern(r"\\[1-9]|\(\?P=")
FORMAT_EXAMPLES = {"email": "name@example.org", "uri": "https://example.org/", "date": "2026-11-22", "date-time": "2026-11-22T14:30:00Z"}
"""The formats of texts that are checked, each with an example."""
_EMAIL = lazy_pattern(r"[^@\s]+@[^@\s]+")
_DATE = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = lazy_pattern(_DATE.pattern + r"[Tt ][0-9:.]+(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})")
Keyword = Callable[..., "Iterator[FieldError] | None"]
"""Checks one keyword of a schema."""


class FieldError(Protocol):
    """An error of the library, with the members that are used here."""

    absolute_path: Sequence[str | int]
    relative_schema_path: Sequence[str | int]
    validator: str
    validator_value: object
    instance: object
    message: str
    context: "Sequence[FieldError] | None"


class Validator(Protocol):
    def iter_errors(self, instance: object) -> Iterator[FieldError]: ...


class _TooLong(Exception):
    """As many keywords were checked as may be."""


def prepare() -> None:
    """Loads the library for checks, which takes 0.1 s; may be called in a thread."""
    import jsonschema  # type: ignore[import-untyped]  # noqa: F401
    import referencing  # noqa: F401


def is_harmless(pattern: str) -> bool:
    """Returns whether a regular expression is certain to end quickly; rather refuses too many than too few."""
    if len(pattern) > LONGEST_PATTERN or _BACKREFERENCE.search(pattern) or _REPEATED_GROUP.search(pattern):
        return False
    return len(_REPEAT.findall(pattern)) <= MOST_REPEATS


def schema_errors(
    schema: Mapping[str, object], value: object, *, most_keywords: int = MOST_KEYWORDS, checks_formats: bool = False
) -> Generator[FieldError, None, None]:
    """Yields the errors in a value; ends early where the schema cannot be used, or asks for too much.

    Args:
        most_keywords: how many keywords it may check, each again for each place of the value.
        checks_formats: texts have to fit one of FORMAT_EXAMPLES; elsewhere a format is only a hint.
    """
    validator = _validator(schema, most_keywords, checks_formats=checks_formats)
    if validator is None:
        return
    try:
        yield from validator.iter_errors(value)
    except (GeneratorExit, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a server's schema may break its reader in any way, also in its Rust; then the server itself checks
        return


def _validator(schema: Mapping[str, object], most_keywords: int, *, checks_formats: bool) -> Validator | None:
    import jsonschema
    from referencing import Registry

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    numbers = iter(range(most_keywords))
    keywords = {name: _bounded(check, numbers) for name, check in kind.VALIDATORS.items()}
    keywords["pattern"] = _bounded(_pattern, numbers)
    if checks_formats:
        keywords["format"] = _bounded(_format, numbers)
    keywords.pop("patternProperties", None)
    bounded = jsonschema.validators.extend(kind, keywords)
    bounded.VALIDATORS.pop("patternProperties", None)
    try:
        made: Validator = bounded(schema, registry=Registry())  # an empty one: nothing is fetched
    except Exception:  # as above
        return None
    return made


def _bounded(check: Keyword, numbers: Iterator[int]) -> Keyword:
    def checked(validator: Validator, keyword: object, instance: object, schema: object) -> Iterator[FieldError]:
        if next(numbers, None) is None:
            raise _TooLong
        yield from check(validator, keyword, instance, schema) or ()

    return checked


def _pattern(_validator: Validator, pattern: object, instance: object, _schema: object) -> Iterator[FieldError]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and isinstance(pattern, str) and len(instance) <= LONGEST_MATCHED and is_harmless(pattern):
        try:
            is_right = re.search(pattern, instance) is not None
        except (re.error, RecursionError, OverflowError):  # another dialect
            return
        if not is_right:
            yield ValidationError(pattern)


def _format(_validator: Validator, format: object, instance: object, _schema: object) -> Iterator[FieldError]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and isinstance(format, str) and not _has_format(format, instance):
        yield ValidationError(format)


def _has_format(format: str, text: str) -> bool:
    try:
        match format:
            case "email":
                return bool(_EMAIL.fullmatch(text))
            case "uri":
                return bool(urlsplit(text).scheme) and " " not in text
            case "date":
                return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
            case "date-time":
                return bool(_MOMENT.fullmatch(text) and datetime.fromisoformat(text))
    except ValueError:
        return False
    return True
