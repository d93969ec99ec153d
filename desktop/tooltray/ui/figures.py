"""Times, token counts and lists of names as text for the user."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from PySide6.QtCore import QDate, QLocale

from tooltray.ui.i18n import many, tr
from tooltray.ui.state_language import UNKNOWN

DAY_S, HOUR_S = 86_400, 3600
DAYS_BY_NAME = 6  # further back, a weekday's name could be misread as this week's


def moment(at: float, now: datetime) -> str:
    """Returns a time of the past or the future as people write it.

    Args:
        at: unix seconds; 0: not known.
    """
    if not at:
        return UNKNOWN
    then, locale = datetime.fromtimestamp(at), QLocale()
    clock = f"{then:%H:%M}"
    if then.date() == now.date():
        return clock
    if abs(then - now) < timedelta(days=DAYS_BY_NAME):
        return f"{locale.dayName(then.isoweekday(), QLocale.FormatType.ShortFormat)} {clock}"
    return locale.toString(QDate(then.year, then.month, then.day), QLocale.FormatType.ShortFormat)


def since(seconds: float, now: datetime) -> str:
    """Returns when something began, as people write it.

    Args:
        seconds: unix seconds; 0 where it is not known.
        now: the user's local time.
    """
    if not seconds:
        return ""
    then, locale = datetime.fromtimestamp(seconds), QLocale()
    clock = f"{then:%H:%M}"
    if then.date() == now.date():
        return tr("since {time}", time=clock)
    if now - then < timedelta(days=DAYS_BY_NAME):
        return tr("since {day}, {time}", day=locale.dayName(then.isoweekday()), time=clock)
    return tr("since {date}", date=locale.toString(QDate(then.year, then.month, then.day), QLocale.FormatType.LongFormat))


def duration(seconds: float) -> str:
    """Returns a duration in the largest unit of which it is a whole number."""
    whole = round(seconds)
    if whole and whole % DAY_S == 0:
        return many(whole // DAY_S, "1 day", "{count} days")
    if whole and whole % HOUR_S == 0:
        return many(whole // HOUR_S, "1 hour", "{count} hours")
    if whole and whole % 60 == 0:
        return many(whole // 60, "1 minute", "{count} minutes")
    return many(whole, "1 second", "{count} seconds")


def number(value: float, digits: int = 0) -> str:
    """Returns a number as the user's language writes it.

    Args:
        digits: after the decimal point.
    """
    return QLocale().toString(round(value)) if not digits else QLocale().toString(float(value), "f", digits)


def tokens(shown: int, of: int) -> str:
    """Returns what definitions cost: as listed to a client, and all of them; the tools that find others can cost more than what
    is hidden.
    """
    if shown >= of:
        return tr("1 token") if shown == 1 else tr("{count} tokens", count=f"{shown:,}")
    if not shown:
        return tr("{count} tokens, none in context", count=f"{of:,}")
    return tr("{shown} of {count} tokens", shown=f"{shown:,}", count=f"{of:,}")


def default_tokens(shown: int, of: int) -> str:
    """Returns what definitions cost by default, in words that also hold for a client whose tool listing is full."""
    if shown >= of:
        return tokens(shown, of)
    if not shown:
        return tr("{count} tokens if listed in full", count=f"{of:,}")
    return tr("{shown} of {count} tokens unless listed in full", shown=f"{shown:,}", count=f"{of:,}")


def zoom_words(percent: int) -> str:
    """Returns a zoom in words."""
    return tr("{percent} %", percent=QLocale().toString(percent))


def first_names(names: Sequence[str], most: int) -> str:
    """Returns the first names, `most` at most, and how many more there are."""
    shown, more = ", ".join(names[:most]), len(names) - most
    return tr("{names} and {count} more", names=shown, count=more) if more > 0 else shown
