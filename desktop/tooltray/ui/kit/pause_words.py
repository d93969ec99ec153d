"""The durations of a pause that the user can choose, and the end of a pause, in words. Pure functions."""

from datetime import datetime, time, timedelta

from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr

HOUR_S = 3600.0
MORNING = time(8)  # when people begin; a pause "until tomorrow" that ended at midnight would end beside a sleeping person


def until_tomorrow_s(now: datetime | None = None) -> float:
    """Returns how long it is until tomorrow morning, in seconds; `now`: the user's local time."""
    now = now or datetime.now()
    end = datetime.combine(now.date() + timedelta(days=1), MORNING)
    return end.timestamp() - now.timestamp()


def paused_until(until: float, now: datetime | None = None) -> str:
    """Returns until when everything is paused; `until`: unix seconds, 0: until the user resumes."""
    return tr("Paused until {time}", time=moment(until, now or datetime.now())) if until else tr("Calls are refused")
