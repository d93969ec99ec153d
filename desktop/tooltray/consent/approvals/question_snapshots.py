"""What a person reads of a question: the call itself, and what stands around it at this moment.

Decides nothing.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from tooltray.consent.approvals.approval_questions import AskedCall, Circumstances, Masked, read_arguments, snapshot
from tooltray.consent.approvals.diffs import of_file, overwritten_file
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.recent_yeses import RecentYeses
from tooltray.consent.approvals.screen_lock import ScreenLock
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.sessions.session_state import SessionStates
from tooltray.servers.transports.transports import is_remote
from tooltray.servers.upstream.server_manager import ServerManager

LARGEST_FILE = 1_048_576  # bytes; what is larger is not compared


class QuestionSnapshots:
    """Has no state of its own."""

    def __init__(
        self,
        *,
        states: SessionStates,
        grants: GrantBook,
        recent: RecentYeses,
        screen_lock: ScreenLock,
        servers: ServerManager,
        user_folder: Path,
        masked: Masked,
    ) -> None:
        """
        Args:
            user_folder: the person's own folder.
            masked: takes known secrets out of what is shown.
        """
        self._states, self._grants, self._recent, self._screen_lock = states, grants, recent, screen_lock
        self._servers, self._home, self._masked = servers, str(user_folder), masked

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

    async def disk_diff(self, call: AskedCall) -> tuple[str, ...]:
        """Compares the file that a call would write whole with the file on disk; empty where there is no text file to compare with.

        Only for the user's eyes: the path is the model's choice, and the file may be any.
        """
        _text, arguments, _warnings = read_arguments(call.arguments)
        server, path = self._servers.find(call.route.server), overwritten_file(arguments)
        if server is None or not path or is_remote(server.config.transport):
            return ()
        text = await finish_in_thread(_text_at, call.project or self._home, path)
        return of_file(cast(Mapping[str, Any], arguments), text, self._masked) if text is not None else ()


def _text_at(folder: str, name: str) -> str | None:
    """Returns the text of a regular file that is not too large to read; None if there is none.

    Args:
        folder: where a relative path begins.
        name: the path, which may begin with `~/`.
    """
    try:
        path = os.path.join(folder, os.path.expanduser(name))
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))  # a pipe would block
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
                return None
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(LARGEST_FILE).decode()
        finally:
            os.close(descriptor)
    except (OSError, ValueError):  # a text in another encoding, or a path that no file can have
        return None
