"""The user's answers in a server's form: the value for the server, or what is wrong with it in words. Pure functions."""

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime
from urllib.parse import urlsplit

from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField
from tooltray.ui.i18n import tr

Value = str | float | bool | list[str]
EXAMPLES = {"email": "name@example.org", "uri": "https://example.org/", "date": "2026-11-22", "date-time": "2026-11-22T14:30:00Z"}
_WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(_DATE.pattern + r"[Tt ][0-9:.]+(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})")


def text_fault(field: ElicitationField, text: str) -> str:
    """Returns what is wrong with the text in a field; empty if it can be sent. An optional field may stay empty."""
    if not text:
        return tr("Required") if field.is_required else ""
    if field.kind is AnswerKind.TEXT:
        return _length_fault(field, text) or _format_fault(field.format, text)
    number = _number(field.kind, text)
    if number is None:
        return tr("A whole number is needed") if field.kind is AnswerKind.INTEGER else tr("A number is needed")
    if field.least is not None and number < field.least:
        return tr("At least {number}", number=f"{field.least:g}")
    if field.most is not None and number > field.most:
        return tr("At most {number}", number=f"{field.most:g}")
    return ""


def text_value(field: ElicitationField, text: str) -> Value | None:
    """Returns the value of a valid text; None for an optional field that stays empty."""
    if not text:
        return None
    return text if field.kind is AnswerKind.TEXT else _number(field.kind, text)


def choice_fault(field: ElicitationField, chosen: Sequence[str]) -> str:
    """Returns what is wrong with a choice; empty if it can be sent."""
    if not chosen:
        is_needed = field.is_required and (field.kind is AnswerKind.CHOICE or (field.least or 0) > 0)
        return tr("Choose one") if is_needed and field.kind is AnswerKind.CHOICE else tr("Choose at least one") if is_needed else ""
    if field.kind is AnswerKind.CHOICES and field.least is not None and len(chosen) < field.least:
        return tr("Choose at least {number}", number=f"{field.least:g}")
    if field.kind is AnswerKind.CHOICES and field.most is not None and len(chosen) > field.most:
        return tr("Choose at most {number}", number=f"{field.most:g}")
    return ""


def choice_value(field: ElicitationField, chosen: Sequence[str]) -> Value | None:
    """Returns the value of a valid choice; None where nothing is chosen and nothing is required."""
    if field.kind is AnswerKind.CHOICE:
        return chosen[0] if chosen else None
    return list(chosen) if chosen or field.is_required else None


def _number(kind: AnswerKind, text: str) -> float | None:
    text = text.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    if kind is AnswerKind.NUMBER:
        with suppress(ValueError):
            number = float(text)
            return number if math.isfinite(number) else None
    return None


def _length_fault(field: ElicitationField, text: str) -> str:
    if field.least is not None and len(text) < field.least:
        return tr("At least {number} characters", number=f"{field.least:g}")
    if field.most is not None and len(text) > field.most:
        return tr("At most {number} characters", number=f"{field.most:g}")
    return ""


def _format_fault(format: str, text: str) -> str:
    is_right = True
    with suppress(ValueError):
        match format:
            case "email":
                is_right = bool(_EMAIL.fullmatch(text))
            case "uri":
                is_right = False
                is_right = bool(urlsplit(text).scheme) and " " not in text
            case "date":
                is_right = False
                is_right = bool(_DATE.fullmatch(text) and date.fromisoformat(text))
            case "date-time":
                is_right = False
                is_right = bool(_MOMENT.fullmatch(text) and datetime.fromisoformat(text))
    return "" if is_right else tr("Write it as in {example}", example=EXAMPLES[format])
