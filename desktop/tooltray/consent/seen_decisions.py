"""Decisions that pass no asker, for the audit trail: answers in an AI client's own form, refusals of calls, and grants that have ended.

What lasts is recorded before it counts (see StandingGrants.record); here is recorded what has happened.
"""

import time
from collections.abc import Callable, Sequence

from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.confirmations import NO, YES
from tooltray.foundation.events import EventBus, GrantsChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import GrantSnapshot
from tooltray.foundation.tasks import Spawn
from tooltray.records.audit.audit_trail import AuditTrail, Decision
from tooltray.records.journal.journal_event import APPROVAL, JournalEvent

CLIENT, REFUSED, ONCE = "client", "refused", "once"  # as pending_approvals has them
WAYS = {CLIENT: CLIENT, "person": ""}
"""By who answered; anybody else is a program."""
ENDED = Phrase("Something that was allowed for a time has ended")
CALL = Phrase("A call of a tool")


class SeenDecisions:
    """Records decisions from events. Belongs to the engine's loop."""

    def __init__(self, *, trail: AuditTrail, grants: GrantBook, bus: EventBus, spawn: Spawn, now: Callable[[], float] = time.time) -> None:
        """
        Args:
            now: unix seconds.
        """
        self._trail, self._book, self._spawn, self._now = trail, grants, spawn, now
        self._grants: dict[str, GrantSnapshot] = {}
        bus.subscribe(JournalEvent, self._on_happened)
        bus.subscribe(GrantsChanged, self._on_grants_changed)

    def start(self) -> None:
        """Reads what is allowed now, against which ends are seen."""
        self._grants = _by_id(self._book.snapshots())

    def _on_happened(self, event: JournalEvent) -> None:
        """Records answers of an AI client's form, and each refusal; other approvals were recorded when they were confirmed."""
        is_no = event.outcome == REFUSED
        if event.kind != APPROVAL or not (is_no or (event.reason == CLIENT and event.outcome == ONCE)):
            return
        who = event.client if event.reason == CLIENT else "" if event.reason in WAYS else event.reason
        about = {"server": event.server, "tool": event.tool, "client": event.client, "project": event.project}
        about = {name: value for name, value in about.items() if value}
        way = WAYS.get(event.reason, "program")
        self._note(Decision(CALL, NO if is_no else YES, way, who, about=about))

    def _on_grants_changed(self, _event: GrantsChanged) -> None:
        before, self._grants = self._grants, _by_id(self._book.snapshots())
        for id, grant in before.items():
            if id not in self._grants and 0 < grant.expires_at <= self._now():
                about = {"server": grant.server, "tool": grant.tool, "client": grant.client}
                self._note(Decision(ENDED, "narrowed", "", about={name: value for name, value in about.items() if value}))

    def _note(self, decision: Decision) -> None:
        self._spawn(self._trail.note(decision), name="audit trail")


def _by_id(grants: Sequence[GrantSnapshot]) -> dict[str, GrantSnapshot]:
    return {grant.id: grant for grant in grants}
