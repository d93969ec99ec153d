"""Makes the texts of a question about a tool call: for the desktop, and as a form in an AI client, where anything but a clear approval
refuses the call.

Servers and models write these texts, so they are made harmless: everything in them can be seen, known secrets are masked, and they are
bounded.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import msgspec
from msgspec import Raw

from tooltray.catalogue.auto_approve import tool_of
from tooltray.catalogue.definition import ToolDefinition, TwiceNamed, definition_text, read_once_named
from tooltray.consent.approvals import diffs, suspicion
from tooltray.consent.approvals.asked_call import ONCE, READ_BELOW_BYTES, READS, REFUSE, RULE, SESSION, AskedCall
from tooltray.consent.approvals.diffs import of_file, overwritten_file
from tooltray.consent.approvals.edited_call import is_editable
from tooltray.consent.approvals.grant_book import OTHER_SETTINGS, GrantBook
from tooltray.consent.approvals.grants import ALWAYS, DAY, HOUR, LIKE, LOCK, ScreenLock
from tooltray.consent.approvals.rule_coverage import Place
from tooltray.consent.approvals.rule_words import brief, offers, words
from tooltray.consent.approvals.standing_grants import RecentApprovals
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonMapping
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.sessions.elicitation_form import is_persons_no, plain
from tooltray.protocol.sessions.session_state import SessionStates
from tooltray.servers.transports.transport_table import is_remote
from tooltray.servers.upstream.server_manager import ServerManager

LARGEST_FILE = 1_048_576  # bytes; larger files are not compared
LONGEST_ARGUMENTS = 20_000  # characters that are shown; a cut is marked
LONGEST_DESCRIPTION, LONGEST_NAME = 1_000, 200  # characters
SAME_NAME_TWICE = Phrase("the arguments name a member twice; the server may read another value than the one that is read here")
Masked = Callable[[str], str]
"""Takes known secrets out of a text."""


class QuestionSnapshots:
    """Makes the texts of questions. Has no state of its own."""

    def __init__(
        self,
        *,
        states: SessionStates,
        grants: GrantBook,
        recent_approvals: RecentApprovals,
        screen_lock: ScreenLock,
        servers: ServerManager,
        user_folder: Path,
        masked: Masked,
    ) -> None:
        """
        Args:
            user_folder: the user's home folder.
            masked: removes known secrets from shown texts.
        """
        self._states, self._grants, self._recent, self._screen_lock = states, grants, recent_approvals, screen_lock
        self._servers, self._home, self._masked = servers, str(user_folder), masked

    def seen_before(self, call: AskedCall) -> str | None:
        """Returns the definition that the user allowed before; empty if the tool has not changed since."""
        return self._grants.seen_before(call.route, call.state, call.client)

    def of(self, call: AskedCall, before: str | None, note: str, id: str, ends_at: float, *, replaces: str = "") -> ApprovalSnapshot:
        """Makes the texts that the user reads.

        Args:
            before: the definition that was allowed or shown before, if it has changed since.
            note: a text before the reason.
            ends_at: unix seconds.
            replaces: the id of the earlier question about the same call, before the tool changed.
        """
        tool, flow = call.route.definition, call.decision.flow
        text, value, warnings = read_arguments(call.arguments)
        similar_window_s = self._recent.similar_window_s(call)
        why = _why(call, before, is_new_read=self._grants.has_all_reads(call.route.server, call.client))
        return ApprovalSnapshot(
            id=id,
            server=suspicion.visible(call.route.server),
            tool=suspicion.visible(tool.name),
            client=plain(call.client, LONGEST_NAME),
            category=call.route.decision.category,
            arguments=suspicion.visible(_cut(self._masked(text))),
            why=Phrase("{note}; {why}", note=note, why=why) if note else why,
            ends_at=ends_at,
            choices=self._choices(call, has_like=bool(similar_window_s)),
            project=suspicion.visible(call.project),
            description=plain(tool.description, LONGEST_DESCRIPTION, keeps_lines=True),
            diff=diffs.of_arguments(value, self._masked),
            definition_diff=diffs.of_definitions(before, definition_text(tool)) if before is not None else (),
            warnings=(*warnings, *suspicion.warnings(tool)),
            replaces=replaces,
            like_for_s=similar_window_s,
            flow=flow,
            rules=() if flow else tuple(self._offered_rules(call)),
            is_declined=bool(note),
            is_editable=not note and is_editable(call),
            title=_title(tool),
        )

    def _choices(self, call: AskedCall, *, has_like: bool) -> tuple[str, ...]:
        """Returns the answers that make sense; if the flow guard asks, only answers after which the guard does not ask again."""
        has_session = self._states.find(call.state.id) is call.state
        of_session = [SESSION] if has_session else []
        if call.decision.flow:
            return (ONCE, *of_session)
        like, lock = [LIKE] if has_like else [], [LOCK] if self._screen_lock.is_awaited else []
        reads = [READS] if call.route.decision.is_plain_read else []
        return (ONCE, *like, *of_session, HOUR, DAY, *lock, ALWAYS, *reads)

    def _offered_rules(self, call: AskedCall) -> Iterator[OfferedRule]:
        """Yields rules that the call may be answered with, except rules with a secret in them, since rules are saved."""
        made = offers(call.route.definition.name, bytes(call.arguments), Place(call.project, self._home))
        harmless = (rule for rule in made if self._masked(rule.text) == rule.text)
        for place, rule in enumerate(harmless, 1):
            yield OfferedRule(f"{RULE}-{place}", brief(rule), words(rule), rule.members())

    async def disk_diff(self, call: AskedCall) -> tuple[str, ...]:
        """Compares the file that a call would write whole with the file on disk; empty without a text file to compare with.

        Only for the user's eyes: the path is the model's choice, and the file may be any.
        """
        _text, arguments, _warnings = read_arguments(call.arguments)
        return await self.file_diff(call.route.server, arguments, call.project)

    async def file_diff(self, server: str, arguments: object, project: str) -> tuple[str, ...]:
        """Does the same as `disk_diff` for a call that is not made yet.

        Args:
            arguments: of the call, as Python values.
            project: where a relative path begins; empty: in the user's home folder.
        """
        found, path = self._servers.find(server), overwritten_file(arguments)
        if found is None or not path or is_remote(found.config.transport):
            return ()
        text = await finish_in_thread(_text_at, project or self._home, path)
        return of_file(cast(JsonMapping, arguments), text, self._masked) if text is not None else ()


def _text_at(folder: str, name: str) -> str | None:
    """Returns the text of a regular file; None if the file does not exist or is too large to read.

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


class _Titled(msgspec.Struct):
    title: object = None


def _title(tool: ToolDefinition) -> str:
    """Returns the title that a server gives a tool; empty without one."""
    hints = tool.annotations if isinstance(tool.annotations, dict) else {}
    title = msgspec.json.decode(tool.raw, type=_Titled).title or hints.get("title")
    return plain(title, LONGEST_NAME) if isinstance(title, str) else ""


def _why(call: AskedCall, before: str | None, *, is_new_read: bool) -> str:
    """Returns why a call asks, and that its tool may destroy something."""
    destroys = tool_of(call.route.definition.name, call.route.hints).destroys
    if why := _cause(call, before, is_new_read=is_new_read):
        return Phrase("{why}; it can delete or overwrite things", why=why) if destroys else why
    return Phrase("this tool can delete or overwrite things") if destroys else Phrase("this tool can change things")


def _cause(call: AskedCall, before: str | None, *, is_new_read: bool) -> str:
    """Returns why a call asks; empty where its tool may change things, and nothing else is the reason."""
    if before is not None and before == definition_text(call.route.definition):
        return OTHER_SETTINGS
    if before is not None:
        return Phrase("the tool has changed since it was allowed or shown")
    if call.decision.flow:
        return call.decision.flow
    if call.decision.is_excepted:
        return Phrase("you chose that this tool asks first")
    if is_new_read and call.route.decision.category == "read":
        return Phrase("all reads of this server were allowed, and this tool is new since then")
    if call.route.decision.category == "read":
        return Phrase("this server may not read without asking")
    return ""


def read_arguments(arguments: Raw) -> tuple[str, object, tuple[str, ...]]:
    """Returns arguments as text and as Python values, and warnings about suspicious parts."""
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


def shown_lines(question: ApprovalSnapshot) -> tuple[str, ...]:
    """Returns what a question shows of its call: the change, or without one the arguments, as unchanged lines; empty without any."""
    return question.diff or (() if question.arguments == "{}" else tuple(f" {line}" for line in question.arguments.splitlines()))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_ARGUMENTS else text[:LONGEST_ARGUMENTS] + "…"


FIELD = "answer"
LONGEST_TITLE = 300  # characters of a choice in a form
MOST_LINES = 60  # of each part; a form in a terminal is small
LONGEST_IN_FORM = 4_000  # characters
TITLES = {
    REFUSE: "No",
    ONCE: "Yes, this once",
    LIKE: "Yes, and similar calls for some seconds",
    SESSION: "Yes, for this session",
    HOUR: "Yes, for an hour",
    DAY: "Yes, for a day",
    LOCK: "Yes, until the screen locks",
    ALWAYS: "Yes, always for this tool",
    READS: "Yes, for all tools of this server that read",
}


def form_params(question: ApprovalSnapshot) -> Raw:
    """Returns the params of the request to the client."""
    values = [REFUSE, *question.choices, *(each.answer for each in _in_form(question))]
    titles = TITLES | {each.answer: _rule_title(each) for each in _in_form(question)}
    field = {
        "type": "string",
        "title": "Allow this call?",
        "enum": values,
        "enumNames": [titles[value] for value in values],
        "default": REFUSE,
    }
    schema = {"type": "object", "properties": {FIELD: field}, "required": [FIELD]}
    return dump({"message": "\n".join(_message(question)), "requestedSchema": schema})


def form_answer(reply: Envelope, question: ApprovalSnapshot, waited_s: float) -> str | None:
    """Returns the user's answer; None without an answer: the client did not ask, or the user was away.

    Args:
        waited_s: for how long the client had the form.
    """
    if reply.error:
        return None
    try:
        result: object = envelope.load(reply.result)
    except ValueError:
        return None
    if not isinstance(result, dict):
        return None
    action, content = result.get("action"), result.get("content")
    answer = content.get(FIELD) if action == "accept" and isinstance(content, dict) else None
    if isinstance(answer, str) and answer in (*question.choices, *(each.answer for each in _in_form(question))):
        return answer
    return REFUSE if is_persons_no(action, waited_s) else None


def _in_form(question: ApprovalSnapshot) -> tuple[OfferedRule, ...]:
    """Returns the narrowest rule for the form, and no wider ones: a form in another program is read in a hurry."""
    return tuple(each for each in question.rules[:1] if len(each.words) <= LONGEST_TITLE)


def _rule_title(offered: OfferedRule) -> str:
    return f"Yes, always: {offered.words}"


def _message(question: ApprovalSnapshot) -> list[str]:
    client = question.client or "An AI client"
    lines = [f"{client} wants to call the tool '{question.tool}' of the server '{question.server}' ({question.category})."]
    lines += [f"Project: {question.project}"] if question.project else []
    lines += [f"It asks because {question.why}."]
    lines += [f"Warning: {warning}" for warning in question.warnings]
    lines += _part("The definition has changed:", list(question.definition_diff))
    lines += _part("It would change:", list(question.diff))
    arguments = question.arguments[:LONGEST_IN_FORM]
    cut = ["…"] if len(question.arguments) > LONGEST_IN_FORM else []
    return lines + _part("Arguments:", arguments.splitlines() + cut)


def _part(title: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return [title, *lines[:MOST_LINES], *(["…"] if len(lines) > MOST_LINES else [])]
