"""`read_result`: what was kept of a large result, page by page, to the client that it was kept for.

Above it: MetaCalls, which sends it these calls. Below it: ResultStore, and what finds lines, words and values. A handle of another client's
or project's is as unknown as one that there never was. Files are read, and tokens counted, in a thread.
"""

import mmap
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Raw

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views import meta_tools
from tooltray.catalogue.views.tool_costs import Count
from tooltray.catalogue.views.views import Views
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.tasks import finish_in_thread
from tooltray.gateway.kept_results import json_path, text_search
from tooltray.gateway.kept_results.pages import page
from tooltray.gateway.kept_results.read_arguments import ReadArguments, line_range, read_arguments
from tooltray.gateway.kept_results.result_fitting import NOTICE_TOKENS, SHORTEST_TOKENS, project_of
from tooltray.gateway.kept_results.result_parts import BLOCK, text_of
from tooltray.gateway.kept_results.result_store import KeptPart, KeptResult, ResultStore
from tooltray.gateway.kept_results.text_search import READ_BYTES, Line
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.member_scanner import closed
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.own_results import own_result
from tooltray.protocol.sessions.session_state import SessionState

UNKNOWN = TooltrayError(
    "there is no result with this handle",
    "results are kept for a day, for the client and the project that they were given to, and the oldest make room for others",
    "Call the tool again.",
)
LONGEST_CHARACTER_BYTES = 4


class Piece(msgspec.Struct, frozen=True):
    """What is answered.

    Attributes:
        block: of the content.
        note: where it is, and how to go on.
    """

    block: Raw
    note: str


class ResultReading:
    """Has no state of its own."""

    def __init__(self, *, store: ResultStore, count: Count, views: Views, tools: ToolManager, flow_guard: FlowGuard) -> None:
        self._store, self._count, self._views, self._tools, self._guard = store, count, views, tools, flow_guard

    async def __call__(self, exchange: Exchange) -> Envelope:
        try:
            arguments = read_arguments(exchange.request.params)
            kept = self._store.find(arguments.handle)
            if kept is None or not self._may_read(kept, exchange.session.state):
                raise UNKNOWN
            piece = await finish_in_thread(self._read, kept, arguments)
        except TooltrayError as error:
            return meta_tools.refusal(error, exchange.era)
        self._guard.note_again(self._route(kept), kept.server, exchange.session.state)
        blocks = (piece.block, dump({"type": "text", "text": f"[{piece.note}]"}))
        return own_result("tools/call", closed({"content": meta_tools.array(blocks), "isError": Raw(b"false")}), exchange.era)

    def _may_read(self, kept: KeptResult, state: SessionState) -> bool:
        is_owners = kept.owner == state.owner and kept.project in ("", project_of(state))
        if not (is_owners and state.server in (None, kept.server) and self._views.reaches(state, kept.server)):
            return False
        route = self._route(kept)
        return route is None or self._views.offers(state, route)  # a profile may have a server without this tool

    def _route(self, kept: KeptResult) -> Route | None:
        """The tool that gave a result, if it is still there."""
        return self._tools.routes(kept.server).get(kept.tool)

    def _read(self, kept: KeptResult, arguments: ReadArguments) -> Piece:
        """In a thread.

        Raises:
            TooltrayError: it is not there any more, or has nothing of the kind; in words for a model.
        """
        number = 1 if arguments.part is None else arguments.part
        if not 1 <= number <= len(kept.parts):
            raise TooltrayError(f"this result has no part {number}", f"it has {len(kept.parts)}, from 1")
        reader = _PartReader(self._store.data(kept), kept.parts[number - 1], max(kept.tokens - NOTICE_TOKENS, SHORTEST_TOKENS), self._count)
        try:
            return reader.read(arguments)
        except OSError:
            raise UNKNOWN from None  # it has just made room for another


class _PartReader:
    """Reads one part; blocks."""

    def __init__(self, data: Path, part: KeptPart, tokens: int, count: Count) -> None:
        self._data, self._part, self._tokens, self._count = data, part, tokens, count

    def read(self, arguments: ReadArguments) -> Piece:
        if self._part.kind == BLOCK:
            block = Raw(b"".join(self._pieces(0)))
            return Piece(block, f"{self._part.title}, whole: {self._part.size:,} bytes")
        if arguments.grep is not None:
            return self._grep(arguments)
        if arguments.path is not None:
            return self._path(arguments.path, arguments.offset)
        first, last = line_range(arguments.lines) if arguments.lines else (1, 0)
        start, end = self._between(first, last) if last else (0, self._part.size)
        return self._page(max(start, arguments.offset), end)

    def _page(self, start: int, end: int) -> Piece:
        if start > end:
            raise TooltrayError(f"there is nothing at {start:,}", f"this part has {self._part.size:,} bytes")
        shown = page(self._pieces(start, end), self._tokens, self._count).utf8
        return _text(shown, self._place(start, start + len(shown), end))

    def _place(self, start: int, stop: int, end: int) -> str:
        of_all = f"bytes {start:,} to {stop:,} of {self._part.size:,}"
        if stop >= self._part.size:
            return f"{of_all}: the end"
        return (
            f'{of_all}; go on with "offset": {stop}'
            if stop < end
            else f'{of_all}: the last of these lines; behind them is "offset": {stop}'
        )

    def _between(self, first: int, last: int) -> tuple[int, int]:
        """Where some lines begin and end."""
        start = self._line_start(first)
        if start is None:
            raise TooltrayError(f"there is no line {first:,}", f"this part has {self._line_count():,}")
        end = self._line_start(last + 1)
        return start, self._part.size if end is None else end

    def _line_start(self, number: int) -> int | None:
        at, before = 0, number - 1  # line ends before it
        for piece in self._pieces(0):
            inside = piece.count(b"\n")
            if inside >= before:
                within = 0
                for _ in range(before):
                    within = piece.index(b"\n", within) + 1
                return at + within if at + within < self._part.size or number == 1 else None
            at, before = at + len(piece), before - inside
        return None

    def _line_count(self) -> int:
        ends, last = 0, b""
        for last in self._pieces(0):
            ends += last.count(b"\n")
        return ends + (not last.endswith(b"\n"))

    # words

    def _grep(self, arguments: ReadArguments) -> Piece:
        matches = text_search.matcher(arguments.grep or "", is_pattern=arguments.regex)
        start = self._character(arguments.offset)
        lines_before = sum(piece.count(b"\n") for piece in self._pieces(0, start))
        only = b"" if arguments.regex else (arguments.grep or "").encode("utf-8", "surrogatepass")
        lines = text_search.Bounded(text_search.lines(self._pieces(start), at=start, number=lines_before + 1, only=only))
        written = _Written(text_search.found(lines, matches))
        shown = page(written, self._tokens, self._count).utf8
        if not shown and lines.stopped_at is not None:
            return _text(b"", f"nothing of the kind so far; {_goes_on(lines.stopped_at)}")
        if not shown:
            where = f" behind {start:,}" if start else ""
            return _text(b"", f"nothing of the kind in the {self._part.size:,} bytes of this part{where}")
        behind = written.behind(len(shown))
        if behind is None:
            note = "these are all" if lines.stopped_at is None else _goes_on(lines.stopped_at)
        else:
            note = f'there are more: go on with "offset": {behind}'
        return _text(shown, f"line: text, and where a line is long the bytes of it; {note}")

    # values

    def _path(self, path: str, offset: int) -> Piece:
        steps = json_path.read_path(path)
        if not self._part.size:
            raise TooltrayError("this part is empty")
        with open(self._data, "rb", opener=open_regular) as file:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        text = memoryview(whole)[self._part.at : self._part.at + self._part.size]
        try:
            values = list(islice(json_path.chosen(_checked(text), steps), json_path.MOST_VALUES + 1))
            json_path.check_number(len(values))
        except (ValueError, RecursionError):
            raise TooltrayError("this part is no JSON", hint="Read it by offset, lines or grep.") from None
        if not values:
            raise TooltrayError(f"nothing is at {path}", hint="A shorter path shows what is there.")
        size = sum(len(memoryview(value)) for value in values) + len(values) - 1
        if offset > size:
            raise TooltrayError(f"there is nothing at {offset:,}", f"what is at this path has {size:,} bytes")
        shown = page(_values_from(values, offset), self._tokens, self._count).utf8
        stop = offset + len(shown)
        note = "the end" if stop >= size else f'go on with the same path and "offset": {stop}'
        counted = f"{len(values):,} values, one a line: " if len(values) > 1 else ""
        return _text(shown, f"{counted}bytes {offset:,} to {stop:,} of {size:,} at {path}: {note}")

    # the file

    def _character(self, offset: int) -> int:
        """Where the next character begins."""
        offset = min(offset, self._part.size)  # a file cannot be asked for any number
        piece = self._raw(offset, min(offset + 4, self._part.size))
        return min(offset + next((at for at, byte in enumerate(piece) if byte & 0xC0 != 0x80), len(piece)), self._part.size)

    def _raw(self, start: int, end: int) -> bytes:
        with open(self._data, "rb", opener=open_regular) as file:
            file.seek(self._part.at + start)
            return file.read(max(end - start, 0))

    def _pieces(self, start: int, end: int | None = None) -> Iterator[bytes]:
        """Of whole characters."""
        start, end = self._character(start), self._part.size if end is None else end
        with open(self._data, "rb", opener=open_regular) as file:
            file.seek(self._part.at + start)
            rest, left = b"", end - start
            while left > 0 and (read := file.read(min(READ_BYTES, left))):
                left -= len(read)
                piece = rest + read
                cut = _whole(piece) if left > 0 else len(piece)
                rest = piece[cut:]
                yield piece[:cut]


class _Written:
    """Lines as they are shown, each with its number; iterated over once.

    A page of them is taken apart again by where each one ended.
    """

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._ends: list[tuple[int, Line]] = []

    def __iter__(self) -> Iterator[bytes]:
        end = 0
        for line in self._lines:
            where = b"%d (byte %d): " % (line.number, line.at) if len(line.utf8) >= text_search.WINDOW_BYTES // 2 else b"%d: " % line.number
            written = where + line.utf8 + b"\n"
            end += len(written)
            self._ends.append((end, line))
            yield written

    def behind(self, shown: int) -> int | None:
        """Where to go on behind so many bytes; None: that was everything."""
        cut = [line for end, line in self._ends if end > shown]
        following = cut[0] if cut else next(self._lines, None)
        if following is None:
            return None
        is_first = bool(self._ends) and following is self._ends[0][1]
        return following.at + len(following.utf8) if is_first else following.at


def _goes_on(at: int) -> str:
    """Of a search that was ended."""
    return f'the search was ended after {text_search.LONGEST_SEARCH_S:g} s: go on with "offset": {at}, or with a simpler pattern'


def _whole(piece: bytes) -> int:
    """Where the last whole character ends."""
    back = next(back for back in range(1, LONGEST_CHARACTER_BYTES + 1) if piece[-back] & 0xC0 != 0x80)
    first = piece[-back]
    length = 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else LONGEST_CHARACTER_BYTES
    return len(piece) if length <= back else len(piece) - back


def _checked(text: memoryview) -> Raw:
    """
    Raises:
        ValueError: it does not begin as JSON does.
    """
    start = next((at for at, byte in enumerate(text[:4096]) if byte not in b" \t\r\n"), None)
    if start is None or text[start] not in b'{["-0123456789tfn':
        raise ValueError("no JSON")
    msgspec.json.decode(text, type=Raw)
    return Raw(text[start:])


def _values_from(values: list[Raw], offset: int) -> Iterator[bytes]:
    """What some values are as lines, from a byte on."""
    for number, value in enumerate(values):
        view = memoryview(value)
        for part in (memoryview(b"\n") if number else memoryview(b""), view):
            at = min(offset, len(part))
            offset -= at
            while at < len(part) and part[at] & 0xC0 == 0x80:
                at += 1
            while at < len(part):
                end = min(at + READ_BYTES, len(part))
                end = at + _whole(bytes(part[at:end])) if end < len(part) else end
                yield bytes(part[at:end])
                at = end


def _text(utf8: bytes, note: str) -> Piece:
    return Piece(dump({"type": "text", "text": text_of(utf8)}), note)
