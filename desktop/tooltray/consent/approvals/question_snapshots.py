"""What the user reads of a question: the call itself, and what is known about it at this moment.

Servers and models write these texts, so that they come out harmless: everything in them can be seen, known secrets are masked, and they
are bounded.
"""

import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Raw

from tooltray.catalogue.definition import TwiceNamed, definition_text, read_once_named
from tooltray.consent.approvals import diffs, rule_maker, suspicion
from tooltray.consent.approvals.asked_call import ONCE, OTHER_SETTINGS, READ_BELOW_BYTES, READS, RULE, SESSION, AskedCall
from tooltray.consent.approvals.diffs import of_file, overwritten_file
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.grant_ends import ALWAYS, DAY, HOUR, LIKE, LOCK, ScreenLock
from tooltray.consent.approvals.rule_coverage import Place
from tooltray.consent.approvals.rule_words import brief, words
from tooltray.consent.approvals.standing_grants import RecentYeses
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.session_state import SessionStates
from tooltray.servers.transports.transports import is_remote
from tooltray.servers.upstream.server_manager import ServerManager

LONGEST_ARGUMENTS = 20_000  # characters that are shown; a cut is marked
LONGEST_DESCRIPTION, LONGEST_NAME = 1_000, 200  # characters
SAME_NAME_TWICE = Phrase("the arguments name a member twice; the server may read another value than the one that is read here")
Masked = Callable[[str], str]
"""Takes known secrets out of a text."""


class Circumstances(msgspec.Struct, frozen=True):
    """What a person should know of a call besides the call itself.

    Attributes:
        before: the definition that was allowed or shown before, where it is another one now.
        is_new_read: all reads of the server were allowed before the tool was there.
        has_session: "for this session" makes sense.
        note: stands before the reason.
        replaces: the id of the same question about the tool as it was.
        has_lock: it will be heard of when the screen locks.
        like_for_s: for how many seconds the like of it may be allowed; 0: not.
        home: the person's own folder, of which no rule is offered.
    """

    before: str | None
    is_new_read: bool
    has_session: bool
    note: str = ""
    replaces: str = ""
    home: str = ""
    has_lock: bool = False
    like_for_s: int = 0


def snapshot(call: AskedCall, circumstances: Circumstances, *, id: str, ends_at: float, masked: Masked) -> ApprovalSnapshot:
    """What the person reads."""
    tool, before, note = call.route.definition, circumstances.before, circumstances.note
    text, value, warnings = read_arguments(call.arguments)
    why = _why(call, before, circumstances.is_new_read)
    return ApprovalSnapshot(
        id=id,
        server=suspicion.visible(call.route.server),
        tool=suspicion.visible(tool.name),
        client=plain(call.client, LONGEST_NAME),
        category=call.route.decision.category,
        arguments=suspicion.visible(_cut(masked(text))),
        why=Phrase("{note}; {why}", note=note, why=why) if note else why,
        ends_at=ends_at,
        choices=_choices(call, circumstances),
        project=suspicion.visible(call.project),
        description=plain(tool.description, LONGEST_DESCRIPTION, keeps_lines=True),
        diff=diffs.of_arguments(value, masked),
        definition_diff=diffs.of_definitions(before, definition_text(tool)) if before is not None else (),
        warnings=(*warnings, *suspicion.warnings(tool)),
        replaces=circumstances.replaces,
        like_for_s=circumstances.like_for_s,
        flow=call.decision.flow,
        rules=() if call.decision.flow else _offered(call, circumstances.home, masked),
    )


def _choices(call: AskedCall, circumstances: Circumstances) -> tuple[str, ...]:
    """The yeses that make sense; where the flow guard asks, only those after which it is not asked again by itself."""
    of_session = [SESSION] if circumstances.has_session else []
    if call.decision.flow:
        return (ONCE, *of_session)
    like, lock = [LIKE] if circumstances.like_for_s else [], [LOCK] if circumstances.has_lock else []
    reads = [READS] if call.route.decision.is_plain_read else []
    return (ONCE, *like, *of_session, HOUR, DAY, *lock, ALWAYS, *reads)


def _offered(call: AskedCall, home: str, masked: Masked) -> tuple[OfferedRule, ...]:
    """Rules that the call may be answered with; none that has a secret in it, since it would be kept."""
    made = rule_maker.offers(call.route.definition.name, bytes(call.arguments), Place(call.project, home))
    harmless = (rule for rule in made if masked(rule.text) == rule.text)
    return tuple(OfferedRule(f"{RULE}-{place}", brief(rule), words(rule), rule.members()) for place, rule in enumerate(harmless, 1))


def _why(call: AskedCall, before: str | None, is_new_read: bool) -> str:
    if before is not None and before == definition_text(call.route.definition):
        return OTHER_SETTINGS
    if before is not None:
        return Phrase("the tool is defined in another way than when it was allowed or shown")
    if call.decision.flow:
        return call.decision.flow
    if call.decision.is_excepted:
        return Phrase("asked because you chose that this tool asks first")
    if is_new_read and call.route.decision.category == "read":
        return Phrase("all reads of this server were allowed, and this tool is new since then")
    if call.route.decision.category == "read":
        return Phrase("asked because this server may not read without asking")
    return Phrase("asked because this tool can change things")


def read_arguments(arguments: Raw) -> tuple[str, object, tuple[str, ...]]:
    """Arguments as text and as Python values, and what is odd in them."""
    raw = bytes(arguments)
    if len(raw) >= READ_BELOW_BYTES:
        beginning = raw[: 2 * LONGEST_ARGUMENTS].decode("utf-8", "replace")
        cut = Phrase("the arguments are very large ({size} bytes); only their beginning is shown", size=f"{len(raw):,}")
        return beginning, None, (cut,)
    try:
        value = read_once_named(raw or b"{}")
        return json.dumps(value, ensure_ascii=False, indent=2), value, ()
    except TwiceNamed:
        return raw.decode("utf-8", "replace"), None, (SAME_NAME_TWICE,)
    except (ValueError, RecursionError):
        return raw.decode("utf-8", "replace"), None, ()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_ARGUMENTS else text[:LONGEST_ARGUMENTS] + "…"


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
