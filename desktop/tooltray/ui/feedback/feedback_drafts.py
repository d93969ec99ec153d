"""Drafts of answers that were not sent, kept in memory until the next report of the same AI client and project.

They are never written to the disk: a report and its AI client do not outlive the hub either, and the window shows that drafts last only as
long as Tooltray runs."""

import msgspec

from tooltray.foundation.snapshots.questions import FeedbackSnapshot
from tooltray.ui.feedback.attachments import Attachment

MOST = 10  # projects; the oldest is forgotten


class Draft(msgspec.Struct, frozen=True):
    """An answer that was not sent."""

    text: str = ""
    attachments: tuple[Attachment, ...] = ()


class Drafts:
    def __init__(self) -> None:
        self._drafts: dict[tuple[str, str], Draft] = {}

    def keep(self, request: FeedbackSnapshot, draft: Draft) -> None:
        """Keeps a draft unless it is empty."""
        if draft.text.strip() or draft.attachments:
            self.take(request)
            self._drafts[whose(request)] = draft
            if len(self._drafts) > MOST:
                self._drafts.pop(next(iter(self._drafts)))

    def take(self, request: FeedbackSnapshot) -> Draft | None:
        """Returns and drops the draft of the previous report."""
        return self._drafts.pop(whose(request), None)


def whose(request: FeedbackSnapshot) -> tuple[str, str]:
    """Returns the key that a report shares with the next one: its client and project."""
    return (request.client, request.project_path or request.project_name)
