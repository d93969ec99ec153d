"""Scenes of the window in which a person answers a report."""

import time
from collections.abc import Sequence
from types import SimpleNamespace

from msgspec.structs import replace
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from tests.fakes.desk import until
from tests.ui.scenes.shot import Shot, shot_of

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.questions import FeedbackEntry, FeedbackSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.feedback.answer_box import Attachment
from tooltray.ui.feedback.feedback_window import Draft, FeedbackWindow
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.markdown_view import MarkdownView

READY = ("Continue", "Looks good, commit it", "Show me the diff", "Stop here")
SUMMARY = """## Invoice totals are fixed

- `invoice.py` sums the **net** amount of each line
- Two tests added, all 48 pass
- The PDF footer now shows the tax rate

**Open question:** should old invoices be recalculated, or only new ones?

```
pytest tests/billing -q   48 passed in 2.1 s
```
"""
LONG = """# What I changed

1. **Totals**: `invoice.py` sums *net* amounts, see [the issue](https://tracker.example.org/issues/17?tab=all)
2. ~~Rounding~~ stays as it was
   - one level deeper
   - and another one

| file | lines | tests |
|---|---:|---|
| invoice.py | 12 | 4 |
| footer.py | 3 | 1 |

> A quotation that somebody wrote in the ticket, long enough to need a second line in this window.

![a picture of the footer](https://tracker.example.org/footer.png) <b>no HTML</b>

"""
REQUEST = FeedbackSnapshot("1", "Claude Code", "/srv/code/shop", "shop", SUMMARY, time.time() - 42, time.time() + 86_400)
ANSWER = "Only new ones. And the date on the invoice is cut off, see the picture."
DISK_FULL = Problem("the answer cannot be kept", "No space left on device", "Free some space on that disk")


def invoice() -> Attachment:
    """A stand-in for a screenshot."""
    image = QImage(288, 192, QImage.Format.Format_RGB32)
    image.fill(QColor("#DFE2F1"))
    with QPainter(image) as painter:
        painter.fillRect(QRectF(42, 30, 204, 162), QColor("white"))
        for y, width, color in (
            (51, 78, "#5862CE"),
            (75, 162, "#D5D7E3"),
            (93, 162, "#D5D7E3"),
            (111, 120, "#D5D7E3"),
            (141, 162, "#EBC9C6"),
        ):
            painter.fillRect(QRectF(63, y, width, 9), QColor(color))
    return Attachment("invoice.png", "image/png", 48_000, b"x", thumbnail=image)


FILES = (
    Attachment("a-rather-long-name-of-a-log-file.log", "text/plain", 812_345, b"x"),
    Attachment("dump.sql", "text/plain", 91_234_567, path="/srv/dump.sql"),
)


def window(
    theme: Theme, request: FeedbackSnapshot = REQUEST, ready: tuple[str, ...] = READY, history: Sequence[FeedbackEntry] = ()
) -> FeedbackWindow:
    async def read(*_: object) -> Sequence[FeedbackEntry]:
        return history

    hub = SimpleNamespace(feedback=SimpleNamespace(get_feedback_history=read))
    result = FeedbackWindow(SimpleNamespace(theme=theme, hub=hub, tasks=TaskKeeper(), take_closed=lambda _: None), request)
    result.set_ready_answers(ready)
    result.show()
    return result


def answered(theme: Theme, *more: Attachment) -> FeedbackWindow:
    result = window(theme)
    result.box.set_content(ANSWER, (invoice(), *more))
    return result


def crowded(theme: Theme) -> FeedbackWindow:
    result = window(
        theme,
        replace(REQUEST, summary=LONG * 3),
        (*READY, "Run all tests again, on every version of Python that we support & say which fail", "Explain", "Undo"),
    )
    result.set_draft(Draft(f"{ANSWER}\n" * 9, (invoice(), *FILES, invoice(), invoice(), invoice())))
    return result


async def feedback(theme: Theme) -> Shot:
    return shot_of(answered(theme))


async def feedback_empty(theme: Theme) -> Shot:
    return shot_of(window(theme, replace(REQUEST, project_path="", project_name="", client=""), ()))


async def feedback_many(theme: Theme) -> Shot:
    return shot_of(crowded(theme))


async def feedback_small(theme: Theme) -> Shot:
    result = crowded(theme)
    result.resize(result.minimumSize())
    return shot_of(result)


async def feedback_refused(theme: Theme) -> Shot:
    result = answered(theme, *FILES)
    result.show_problem(DISK_FULL)
    return shot_of(result)


async def feedback_ended(theme: Theme) -> Shot:
    result = answered(theme)
    result.end()
    return shot_of(result)


async def feedback_link(theme: Theme) -> Shot:
    result = window(theme, replace(REQUEST, summary=LONG))
    view = result.findChild(MarkdownView)
    view.link_chosen.emit("http://xn--pple-43d.com.tracker.example.org:8080/issues/17?tab=all&" + "x" * 90)
    view.link_chosen.emit("file:///etc/passwd")
    return shot_of(result)


async def feedback_history(theme: Theme) -> Shot:
    now = time.time()
    entry = FeedbackEntry(
        "1", "/srv/code/shop", "shop", "Claude Code", SUMMARY, now - 600, "answered", ANSWER, ("invoice.png", "dump.sql"), now
    )
    others = [
        replace(entry, outcome=outcome, text="", attachments=(), asked_at=now - 90_000) for outcome in ("dismissed", "expired", "withdrawn")
    ]
    result = window(theme, history=[entry, *others])
    result._on_history()
    await until(lambda: not len(result._owner.tasks))
    return shot_of(result)


async def feedback_ready(theme: Theme) -> Shot:
    result = window(theme)
    result._on_edit_ready()
    return shot_of(result)


SCENES = (
    feedback,
    feedback_empty,
    feedback_many,
    feedback_small,
    feedback_refused,
    feedback_ended,
    feedback_link,
    feedback_history,
    feedback_ready,
)
