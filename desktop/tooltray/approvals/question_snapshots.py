"""What a person reads of a question: the call itself, and what stands around it at this moment.

Above it: ApprovalRounds and RefusedCalls. Below it: approval_questions, which writes it; GrantBook, RecentYeses, ScreenLock and the states
of sessions, which say which answers make sense. Decides nothing.
"""

from pathlib import Path

from tooltray.approvals.approval_questions import AskedCall, Circumstances, Masked, snapshot
from tooltray.approvals.grant_book import GrantBook
from tooltray.approvals.recent_yeses import RecentYeses
from tooltray.approvals.screen_lock import ScreenLock
from tooltray.sessions.session_state import SessionStates
from tooltray.snapshots.approvals import ApprovalSnapshot


class QuestionSnapshots:
    """Has no state of its own."""

    def __init__(
        self, *, states: SessionStates, grants: GrantBook, recent: RecentYeses, screen_lock: ScreenLock, user_folder: Path, masked: Masked
    ) -> None:
        """
        Args:
            user_folder: the person's own folder.
            masked: takes known secrets out of what is shown.
        """
        self._states, self._grants, self._recent, self._screen_lock = states, grants, recent, screen_lock
        self._home, self._masked = str(user_folder), masked

    def seen_before(self, call: AskedCall) -> str | None:
        """The definition that was allowed, where the tool has another one now; None if there is no such."""
        return self._grants.seen_before(call.route, call.state, call.client)

    def of(self, call: AskedCall, before: str | None, note: str, id: str, ends_at: float, *, replaces: str = "") -> ApprovalSnapshot:
        """
        Args:
            before, note, replaces: see Circumstances.
            ends_at: unix seconds.
        """
        circumstances = Circumstances(
            before=before,
            is_new_read=self._grants.has_all_reads(call.route.server, call.client),
            has_session=self._states.find(call.state.id) is call.state,
            note=note,
            replaces=replaces,
            home=self._home,
            has_lock=self._screen_lock.is_awaited,
            like_for_s=self._recent.like_for_s(call),
        )
        return snapshot(call, circumstances, id=id, ends_at=ends_at, masked=self._masked)
