"""What the lines of the tray's menu say. Pure functions; a menu has one column, no tooltip, and does not elide long texts."""

import time
from datetime import datetime

from tooltray.foundation.snapshots.activity import ActivityEntry, CallNow
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.snapshots.hub import ProgramLoad
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr

LONGEST = 32  # characters of a name
MINUTE_S = 60


def short(text: str, longest: int = LONGEST) -> str:
    """Returns a name for a menu: on one line, long ones without their middle, ampersands escaped so that they mark no key."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    half = longest // 2
    return (shown if len(shown) <= longest else f"{shown[:half]}…{shown[-half:]}").replace("&", "&&")


def call_line(call: CallNow, now: float | None = None) -> str:
    """Returns who calls what, and since when; `now`: unix seconds."""
    passed = max(0, int((time.time() if now is None else now) - call.since))
    lasts = tr("{seconds} s", seconds=passed) if passed < MINUTE_S else tr("{minutes} min", minutes=passed // MINUTE_S)
    words = {"person": tr("waits for you"), "start": tr("waits for its server"), "turn": tr("waits for its turn")}
    waits = words.get(call.waits_for, lasts)
    who = short(call.client) or tr("A client")
    return " · ".join((who, f"{short(call.tool)} ({short(call.server)})", waits))


def failure_line(entry: ActivityEntry, now: datetime) -> str:
    """Returns what failed, and when."""
    what = f"{short(entry.tool)} ({short(entry.server)})" if entry.tool else short(entry.server)
    return " · ".join((moment(entry.at, now), what))


def approval_line(request: ApprovalSnapshot) -> str:
    """Returns which call waits for approval, and its client."""
    tool, server, client = short(request.tool), short(request.server), short(request.client)
    if not client:
        return tr("{tool} of {server}", tool=tool, server=server)
    return tr("{tool} of {server}, for {client}", tool=tool, server=server, client=client)


def can_answer(request: ApprovalSnapshot) -> bool:
    """Returns whether a call may be allowed without seeing its arguments: one that reads, of a tool without warnings or changes."""
    is_plain = not (request.warnings or request.definition_diff or request.diff)
    return request.category == "read" and is_plain and "once" in request.choices


def load_line(load: ProgramLoad) -> str:
    """Returns the memory and processor time that Tooltray and its servers use now."""
    own = tr("Tooltray: {memory} MB, {share} % of a processor", memory=_mb(load.memory_bytes), share=f"{load.cpu_share * 100:.0f}")
    if not load.running_servers:
        return own
    return " · ".join((own, tr("servers: {memory} MB", memory=_mb(load.server_memory_bytes))))


def _mb(size: int) -> str:
    return f"{size / 1e6:,.0f}"
