"""The errors in a value by its schema, in the user's words, each at its place. What is not checked here is checked by the server."""

from collections.abc import Iterator, Mapping
from typing import cast

from tooltray.foundation.schema_check import FORMAT_EXAMPLES, PATIENCE_S, FieldError, schema_errors
from tooltray.ui.i18n import many, tr
from tooltray.ui.widgets.server_text import one_line

Path = tuple[str | int, ...]
MOST_FAULTS = 50  # nobody reads more
LONGEST_FAULT = 200  # characters


def faults_of(
    schema: Mapping[str, object], value: object, *, patience_s: float = PATIENCE_S, checks_formats: bool = False
) -> dict[Path, str]:
    """Returns the errors in a value, by their places; empty where the check fails."""
    found: dict[Path, str] = {}
    for error in schema_errors(schema, value, patience_s=patience_s, checks_formats=checks_formats):
        for path, words in _worded(error):
            found.setdefault(path, words)
        if len(found) >= MOST_FAULTS:
            break
    return found


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
        case "format":
            yield path, tr("Write it as in {example}", example=FORMAT_EXAMPLES[str(limit)])
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
