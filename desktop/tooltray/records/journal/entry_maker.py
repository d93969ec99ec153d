"""Makes entries from events: finds the target and the reason of a failure, masks secrets, cleans texts for display.

Whole arguments and results are in an entry if the user wants them recorded. This runs after a call was answered: for small events in the
loop, for all others in the journal's thread.
"""

import json
from collections.abc import Callable

import msgspec
from msgspec import Raw

from tooltray.config.settings.settings import ActivitySettings
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.exchange import CallTimings
from tooltray.records.journal.call_figures import bucket_of
from tooltray.records.journal.call_params import LONGEST_CONTEXT, LONGEST_TARGET, arguments_of, read_trace, target_of
from tooltray.records.journal.journal_event import CALL, JournalEvent
from tooltray.records.journal.journal_file import Contents, NewEntry
from tooltray.records.journal.journal_queries import kept_session
from tooltray.records.log.masking import MASKED, Mask

LONGEST_PATH = 4096  # characters
LONGEST_REASON = 300  # characters
LONGEST_NAME = 300
MOST_NAMES = 1_000  # that are remembered as they are shown
REASON_BELOW_BYTES = 65_536  # of a result that gives the reason of its failure; larger ones have no certain place for it
BYTES_PER_TOKEN = 4  # an estimate; counting would cost milliseconds for a large result

LARGEST_BYTES = 262_144  # of arguments, and of a result; the rest is cut
CONTENTS_BELOW_BYTES = 2 * LARGEST_BYTES  # of larger ones the beginning is kept
LONGEST_SECRET_BYTES = 16_384  # a cut must not leave half of one; files of keys are no longer
MOST_DIGITS = 5_000  # of a number


class EntryMaker:
    """A maker of entries. Belongs to one thread."""

    def __init__(self, mask: Mask, run: str, *, wanted: Callable[[], ActivitySettings], clock: Callable[[], float]) -> None:
        """
        Args:
            mask: of this thread.
            run: of the hub, see journal_queries.
            wanted: returns the settings of the journal.
            clock: unix seconds.
        """
        self._mask, self._run, self._wanted, self._clock = mask, run, wanted, clock
        self._names: dict[tuple[str, ...], list[str]] = {}  # as they are shown: most entries have the same

    def refresh(self) -> None:
        """Reads the secrets again that are masked."""
        if self._mask.refresh():
            self._names.clear()

    def entry(self, event: JournalEvent) -> NewEntry:
        wanted = self._wanted()
        line = (event.line or (target_of(event.params) if event.kind == CALL else "")) if wanted.line else ""
        said = f"{self._target(line, event)}\n{self._text(event.reason or _reason(event), LONGEST_REASON)}"
        names = (event.client, kept_session(event.session, self._run), event.project, event.server, event.tool, event.published)
        timings = event.timings
        contents = self._contents(event) if (event.kind == CALL or event.params) and wanted.keeps_contents(self._clock()) else None
        values = (
            *(
                event.kind,
                event.at,
                said,
                event.outcome,
                event.duration_s,
                bucket_of(event.duration_s),
                *(self._names.get(names) or self._shown(names)),
            ),
            *(event.argument_bytes, event.result_bytes, event.result_bytes // BYTES_PER_TOKEN),
            *(timings.allowed_by if timings else "", *_times(timings), contents is not None),
            *self._trace(event),
            self._text(timings.id, LONGEST_NAME) if timings and event.kind == CALL else "",
        )
        return NewEntry(values, contents, "" if contents else self._change(event)[0])

    def _contents(self, event: JournalEvent) -> Contents:
        arguments, is_cut = masked_json(arguments_of(event.params), self._mask)
        result, is_result_cut = masked_json(event.reply, self._mask)
        is_left_out = bool(event.argument_bytes and not event.params)
        is_change = any(line[:1] in ("+", "-") for line in event.timings.diff) if event.timings else False  # else it is the arguments
        diff, is_diff_cut = self._change(event) if is_change else ("", False)
        return Contents(arguments, result, is_cut or is_result_cut or is_left_out or is_diff_cut, diff)

    def _change(self, event: JournalEvent) -> tuple[str, bool]:
        """Returns the lines that the user was shown of a call, masked, and whether some are left out."""
        if not (event.timings and event.timings.diff):
            return "", False
        lines = "\n".join(event.timings.diff)
        return _cut(self._mask.text(lines, len(lines)))

    def _trace(self, event: JournalEvent) -> tuple[str, str]:
        """Returns the trace's id, and the client's trace context as JSON."""
        trace = read_trace(event.params) if event.kind == CALL else None
        if trace is None:
            return "", ""
        texts = {name: self._text(text, LONGEST_CONTEXT) for name, text in msgspec.structs.asdict(trace).items() if text}
        return trace.trace_id, msgspec.json.encode(texts).decode()

    def _shown(self, names: tuple[str, ...]) -> list[str]:
        if len(self._names) >= MOST_NAMES:
            self._names.clear()
        shown = self._names[names] = [self._text(each, LONGEST_NAME) for each in names]
        return shown

    def _target(self, line: str, event: JournalEvent) -> str:
        """Returns a call's target, in full if the user was asked about the call. Else a long one is cut in its middle, since a path ends
        with the name of the file.
        """
        shown = self._text(line, LONGEST_PATH)
        is_asked = event.timings is not None and event.timings.person_s is not None
        return (
            shown if is_asked or len(shown) <= LONGEST_TARGET else f"{shown[: LONGEST_TARGET // 3]}…{shown[-2 * LONGEST_TARGET // 3 + 1 :]}"
        )

    def _text(self, text: str, most: int) -> str:
        return plain(self._mask.text(text), most) if text else ""


def _times(timings: CallTimings | None) -> tuple[float | None, ...]:
    """Returns queue_s, person_s, start_s, server_s, back_s."""
    if timings is None:
        return (None,) * 5
    back_s = timings.sent_at - timings.answered_at if timings.sent_at and timings.answered_at else None
    queue_s = None
    if timings.answered_at:
        elsewhere_s = (timings.person_s or 0.0) + (timings.start_s or 0.0) + (timings.server_s or 0.0)
        queue_s = max(0.0, timings.passed_s - elsewhere_s)
    return queue_s, timings.person_s, timings.start_s, timings.server_s, back_s


class _Content(msgspec.Struct):
    text: str = ""


class _Failed(msgspec.Struct):
    """An error of JSON-RPC, which has a message, or the result of a failed call, which has contents."""

    message: str = ""
    content: list[_Content] = []


def _reason(event: JournalEvent) -> str:
    """Returns the message of a reply that is a failure."""
    if not event.is_fault or not event.reply:
        return ""
    beginning = bytes(memoryview(event.reply)[:REASON_BELOW_BYTES])
    if len(beginning) == REASON_BELOW_BYTES:
        return ""
    return _message(Raw(beginning))


def _message(reply: Raw) -> str:
    try:
        failed = msgspec.json.decode(reply, type=_Failed)
    except (ValueError, RecursionError):
        return ""
    return failed.message or next((each.text for each in failed.content if each.text), "")


def beginning_of(raw: Raw) -> Raw:
    """Returns the part of a large content that is read."""
    return Raw(bytes(memoryview(raw)[: LARGEST_BYTES + LONGEST_SECRET_BYTES]))


def masked_json(raw: Raw, mask: Mask) -> tuple[str, bool]:
    """Returns the text to store, and whether it was cut. `raw`: JSON, or only its beginning.

    Secrets are masked in the values, and not in the text, in which the same value can be spelled in many ways. Only in content that is too
    large or not JSON the text itself is masked.
    """
    if not raw:
        return "", False
    data = bytes(raw)
    try:
        text = json.dumps(_masked(msgspec.json.decode(data), mask), ensure_ascii=False) if mask.is_needed else data.decode()
    except (ValueError, RecursionError):
        text = mask.text(data.decode("utf-8", "replace"), len(data))
    return _cut(text)


def _cut(text: str) -> tuple[str, bool]:
    data = text.encode("utf-8", "replace")
    return (text, False) if len(data) <= LARGEST_BYTES else (data[:LARGEST_BYTES].decode("utf-8", "ignore"), True)


def _masked(value: object, mask: Mask) -> object:
    if isinstance(value, str):
        return mask.text(value, len(value))
    if isinstance(value, dict):
        return {mask.text(key, len(key)): _masked(member, mask) for key, member in value.items()}
    if isinstance(value, list):
        return [_masked(member, mask) for member in value]
    is_secret = isinstance(value, int | float) and mask.text(str(value), MOST_DIGITS) != str(value)
    return MASKED if is_secret else value
