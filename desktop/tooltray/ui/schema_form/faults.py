"""The errors in a value by its schema, in the user's words, each at its place. A schema is a server's: its references are never
fetched, its patterns are tried only where they are certain to end, and the check has a deadline. What is not checked here is checked
by the server."""

import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, cast

from tooltray.ui.i18n import many, tr
from tooltray.ui.widgets.server_text import one_line

logger = logging.getLogger(__name__)
Path = tuple[str | int, ...]
PATIENCE_S = 0.2  # a person waits for the press of a button; real schemas take a hundredth of it
MOST_FAULTS = 50  # nobody reads more
LONGEST_FAULT = 200  # characters
LONGEST_PATTERN, LONGEST_MATCHED = 200, 256  # characters; with at most two repetitions 256 signs take 0.2 s at worst
MOST_REPEATS = 2
_REPEATED_GROUP = re.compile(r"\)\s*(?:[*+?]|\{\d)")
_REPEAT = re.compile(r"(?<!\\)[*+]|\{\d*,\d*\}")
_BACKREFERENCE = re.compile(r"\\[1-9]|\(\?P=")
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
    """The deadline has passed."""


def prepare() -> None:
    """Loads the library for checks, which takes 0.1 s; may be called in a thread."""
    import jsonschema  # type: ignore[import-untyped]
    import referencing

    logger.debug("%s and %s are loaded", jsonschema.__name__, referencing.__name__)


def is_harmless(pattern: str) -> bool:
    """Returns whether a regular expression is certain to end quickly; rather refuses too many than too few."""
    if len(pattern) > LONGEST_PATTERN or _BACKREFERENCE.search(pattern) or _REPEATED_GROUP.search(pattern):
        return False
    return len(_REPEAT.findall(pattern)) <= MOST_REPEATS


def faults_of(schema: Mapping[str, object], value: object, *, patience_s: float = PATIENCE_S) -> dict[Path, str]:
    """Returns the errors in a value, by their places; empty where the check fails."""
    validator = _validator(schema, time.monotonic() + patience_s)
    if validator is None:
        return {}
    found: dict[Path, str] = {}
    try:
        for error in validator.iter_errors(value):
            for path, words in _worded(error):
                found.setdefault(path, words)
            if len(found) >= MOST_FAULTS:
                break
    except Exception:  # a server's schema may break its reader in any way; then the server itself checks
        return found
    return found


def _validator(schema: Mapping[str, object], deadline: float) -> Validator | None:
    import jsonschema
    from referencing import Registry

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    keywords = {name: _bounded(check, deadline) for name, check in kind.VALIDATORS.items()}
    keywords["pattern"] = _bounded(_pattern, deadline)
    keywords.pop("patternProperties", None)
    bounded = jsonschema.validators.extend(kind, keywords)
    bounded.VALIDATORS.pop("patternProperties", None)
    try:
        made: Validator = bounded(schema, registry=Registry())  # an empty one: nothing is fetched
    except Exception:  # as above
        return None
    return made


def _bounded(check: Keyword, deadline: float) -> Keyword:
    def checked(validator: Validator, keyword: object, instance: object, schema: object) -> Iterator[FieldError]:
        if time.monotonic() > deadline:
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


def _worded(error: FieldError) -> Iterator[tuple[Path, str]]:
    """Yields the places and texts of an error of the library."""
    path: Path = tuple(error.absolute_path)
    limit = error.validator_value
    match error.validator:
        case "required":
            there = error.instance if isinstance(error.instance, dict) else {}
            yield from (((*path, name), tr("Required.")) for name in _names(limit) if name not in there)
        case "type":
            yield path, tr("This must be of the type {type}.", type=" | ".join(_names(limit)))
        case "enum" | "const":
            yield path, tr("This is not one of the allowed values.")
        case "minimum" | "exclusiveMinimum":
            words = tr("At least {number}.", number=limit) if error.validator == "minimum" else tr("More than {number}.", number=limit)
            yield path, words
        case "maximum" | "exclusiveMaximum":
            words = tr("At most {number}.", number=limit) if error.validator == "maximum" else tr("Less than {number}.", number=limit)
            yield path, words
        case "minLength":
            yield path, tr("Required.") if limit == 1 else tr("At least {number} characters", number=limit)
        case "maxLength":
            yield path, tr("At most {number} characters", number=limit)
        case "minItems":
            yield path, many(cast(int, limit), "At least 1 entry is needed.", "At least {count} entries are needed.")
        case "maxItems":
            yield path, tr("At most {count} entries are taken.", count=limit)
        case "pattern":
            yield path, tr("It does not fit the pattern {pattern}", pattern=one_line(str(limit), LONGEST_FAULT))
        case "anyOf" | "oneOf":
            yield from _of_branches(error, path)
        case "additionalProperties" | "unevaluatedProperties":
            yield path, tr("It contains something that is not allowed: {what}", what=one_line(error.message, LONGEST_FAULT))
        case _:
            yield path, one_line(error.message, LONGEST_FAULT)


def _names(limit: object) -> list[str]:
    return [str(name) for name in limit] if isinstance(limit, list) else [str(limit)]


def _of_branches(error: FieldError, path: Path) -> Iterator[tuple[Path, str]]:
    """Yields the errors of the best branch: the one with the fewest errors, none of them of its type."""
    branches: dict[str | int, list[FieldError]] = {}
    for each in error.context or ():
        branches.setdefault(each.relative_schema_path[0], []).append(each)
    near = [errors for errors in branches.values() if not any(each.validator in ("type", "const") for each in errors)]
    if near:
        for each in min(near, key=len):
            yield from _worded(each)
    else:
        yield path, tr("This matches none of the allowed forms.")
