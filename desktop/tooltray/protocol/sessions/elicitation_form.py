"""Reads what a server asks the user: `elicitation/create`, as a form or as an address to open.

Servers write these texts, so they are turned into plain text: no control characters, no characters that turn the direction of writing, and
bounded. Values that go back to the server stay as it wrote them.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField, ElicitationOption

LONGEST_MESSAGE, LONGEST_NOTE, LONGEST_TITLE, LONGEST_VALUE = 4_000, 1_000, 200, 4_000  # characters; a user reads no more in a sheet
AT_ONCE_S = 0.7  # no user reads and answers a form in less; clients without a screen answer within milliseconds
LONGEST_URL = 8_000  # the limit of browsers and servers
MOST_FIELDS, MOST_OPTIONS = 50, 250  # a sheet with more is too long for a question
_KINDS = {"string": AnswerKind.TEXT, "number": AnswerKind.NUMBER, "integer": AnswerKind.INTEGER, "boolean": AnswerKind.BOOLEAN}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # control, direction of writing, halves of characters, line separators
_JOINERS = "\u200c\u200d"  # invisible too, but words of several languages and joined emoji need them


class CannotAsk(Exception):
    """A question that cannot be shown as the server wrote it; its text explains why."""


def plain(text: object, most: int, *, keeps_lines: bool = False) -> str:
    """Returns a server's text as it may be shown; empty if it is not text."""
    if not isinstance(text, str):
        return ""
    text = text[: 4 * most]
    if not (text.isascii() and text.isprintable()):  # most texts are, and a look at each character would cost a busy journal 4 us
        text = ("\n" if keeps_lines else " ").join(map(_one_line, text.splitlines()))
    shown = text.strip()
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _one_line(line: str) -> str:
    return "".join(sign for sign in line.replace("\t", " ") if sign in _JOINERS or unicodedata.category(sign) not in _UNSEEN)


def read_url(url: object) -> str:
    """Returns the address that the user is asked to open.

    Raises:
        CannotAsk: a browser should not be sent to it, or could not.
    """
    if not isinstance(url, str) or not 0 < len(url) <= LONGEST_URL:
        raise CannotAsk("the url must be a string of reasonable length")
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:  # browsers read these in different ways
        raise CannotAsk("the url must be escaped as in RFC 3986")
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        raise CannotAsk("the url cannot be read") from None
    if parts.scheme.lower() not in ("http", "https") or not host:
        raise CannotAsk("the url must begin with https:// or http:// and name a host")
    if "@" in parts.netloc:  # a host in front of the '@' serves only to be mistaken for the true one
        raise CannotAsk("the url must not hold a user name")
    return url


def read_form(schema: object) -> tuple[ElicitationField, ...]:
    """Returns the fields of a form, in the server's order.

    Raises:
        CannotAsk: it is not a form, or a required field cannot be shown.
    """
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict):
        raise CannotAsk("requestedSchema must be an object with properties")
    if len(properties) > MOST_FIELDS:
        raise CannotAsk(f"requestedSchema has more than {MOST_FIELDS} properties")
    required = schema.get("required")
    return tuple(_fields(properties, required if isinstance(required, list) else []))


def _fields(properties: Mapping[str, object], required: Sequence[object]) -> Iterator[ElicitationField]:
    for name, written in properties.items():
        field = _field(name, _without_null(written), name in required)
        if field is not None:
            yield field
        elif name in required:
            raise CannotAsk(f"the property '{plain(name, LONGEST_TITLE)}' is required and has a type that forms do not support")


def _without_null(written: object) -> Mapping[str, object]:
    """Returns the schema of a field without null, which makes a field optional: generators of schemas write it in these two ways."""
    if not isinstance(written, dict):
        return {}
    kinds = written.get("type")
    if isinstance(kinds, list) and len(rest := [kind for kind in kinds if kind != "null"]) == 1:
        return {**written, "type": rest[0]}
    choices = written.get("anyOf")
    if "type" not in written and isinstance(choices, list):
        rest = [each for each in choices if isinstance(each, dict) and each.get("type") != "null"]
        if len(rest) == 1:
            return {**rest[0], **{key: value for key, value in written.items() if key != "anyOf"}}
    return written


def _field(name: str, written: Mapping[str, object], is_required: bool) -> ElicitationField | None:
    kind, options = _KINDS.get(str(written.get("type"))), _options(written)
    if written.get("type") == "array":
        items = written.get("items")
        kind, options = AnswerKind.CHOICES, _options(items if isinstance(items, dict) else {})
    elif options:
        kind = AnswerKind.CHOICE
    if kind is None or (kind is AnswerKind.CHOICES and not options):
        return None
    low, high = _LIMITS.get(kind, ("minimum", "maximum"))
    return ElicitationField(
        name=name,
        title=plain(written.get("title"), LONGEST_TITLE) or plain(name, LONGEST_TITLE),
        description=plain(written.get("description"), LONGEST_NOTE),
        kind=kind,
        is_required=is_required,
        default=_default(kind, written.get("default"), options),
        options=options,
        format=plain(written.get("format"), LONGEST_TITLE) if kind is AnswerKind.TEXT else "",
        least=_number(written.get(low)),
        most=_number(written.get(high)),
    )


_LIMITS = {AnswerKind.TEXT: ("minLength", "maxLength"), AnswerKind.CHOICES: ("minItems", "maxItems")}


def _options(written: Mapping[str, object]) -> tuple[ElicitationOption, ...]:
    """Returns the options of `enum`, with or without `enumNames`, or of `oneOf` or `anyOf` of titled constants."""
    values, names = written.get("enum"), written.get("enumNames")
    if isinstance(values, list):
        titles = names if isinstance(names, list) and len(names) == len(values) else values
        pairs = list(zip(values, titles, strict=True))
    else:
        titled = written.get("oneOf", written.get("anyOf"))
        listed = [each for each in titled if isinstance(each, dict)] if isinstance(titled, list) else []
        pairs = [(each.get("const"), each.get("title")) for each in listed]
    found = [
        ElicitationOption(value, plain(title, LONGEST_TITLE) or plain(value, LONGEST_TITLE)) for value, title in pairs if _is_value(value)
    ]
    if len(found) > MOST_OPTIONS:
        raise CannotAsk(f"a property has more than {MOST_OPTIONS} options")
    return tuple(found)


def _is_value(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_VALUE


def _default(kind: AnswerKind, value: object, options: Sequence[ElicitationOption]) -> str | float | bool | tuple[str, ...] | None:
    """Returns the server's own default, if it is of the field's kind and can be shown unchanged."""
    known = {option.value for option in options}
    match kind:
        case AnswerKind.BOOLEAN:
            return value if isinstance(value, bool) else None
        case AnswerKind.TEXT:
            return value if isinstance(value, str) and len(value) <= LONGEST_VALUE and plain(value, LONGEST_VALUE) == value else None
        case AnswerKind.CHOICE:
            return value if isinstance(value, str) and value in known else None
        case AnswerKind.CHOICES:
            return tuple(each for each in value if isinstance(each, str) and each in known) if isinstance(value, list) else None
    number = _number(value)
    return None if number is None or (kind is AnswerKind.INTEGER and number != int(number)) else number


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e300 else None  # false for NaN and infinity, too; a whole number may have any length


def is_persons_no(action: object, waited_s: float) -> bool:
    """Returns whether an answer that does not approve, to a form of our own, comes from a person: many clients declare forms but run where
    no user sees them. `cancel` is the protocol's answer for a form that was left unanswered.

    Args:
        action: of the `elicitation/create` result.
        waited_s: for how long the client had the form.
    """
    return action in ("accept", "decline") and waited_s >= AT_ONCE_S
