"""`read_result`: the rest of a large result, page by page, for the client that got its beginning.

For another client, or in another project, a handle does not exist.
"""

from collections.abc import Iterator
from io import BufferedReader

import msgspec
from msgspec import Raw

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views import meta_tools
from tooltray.catalogue.views.views import Views
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.regular_file import open_regular
from tooltray.foundation.tasks import finish_in_thread
from tooltray.gateway.kept_results.result_fitting import NOTICE_TOKENS, SHORTEST_TOKENS, project_of
from tooltray.gateway.kept_results.result_parts import BLOCK, LONGEST_TOKEN_BYTES, READ_BYTES, estimate_tokens, page, search, text_of
from tooltray.gateway.kept_results.result_store import KeptPart, KeptResult, ResultStore
from tooltray.protocol.envelope import NOTHING, Envelope, dump
from tooltray.protocol.eras import own_result
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState

UNKNOWN = TooltrayError(
    "no result has this handle",
    "results are kept for a day, only for the client and the project that received them; the oldest are deleted when space is needed",
    "Call the tool again.",
)
LONGEST_CHARACTER_BYTES = 4
LONGEST_WORDS = 1000  # characters
NO_END = 10**15
_LINES = lazy_pattern(r"\s*(\d{1,15})\s*(-)?\s*(\d{1,15})?\s*")
_TAKES = "It takes handle and optionally part, offset, and one of lines and grep."


class ReadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `read_result`. A misspelt one is an error: otherwise the model would read the beginning again and again.

    Attributes:
        part: from 1.
        offset: in bytes of the part.
        lines: a range of lines; see line_range.
        grep: words; only lines with them are wanted. Not together with `lines`.
    """

    handle: str
    part: int = 1
    offset: int = 0
    lines: str | None = None
    grep: str | None = None


class Answer(msgspec.Struct, frozen=True):
    """The answer to a call.

    Attributes:
        block: of the content.
        note: where this is in the part, and how to continue.
    """

    block: Raw
    note: str


class ResultReading:
    """The work behind `read_result`. Files are read in a thread."""

    def __init__(self, *, store: ResultStore, views: Views, tools: ToolManager, flow_guard: FlowGuard) -> None:
        self._store, self._views, self._tools, self._guard = store, views, tools, flow_guard

    async def __call__(self, exchange: Exchange) -> Envelope:
        try:
            arguments = read_arguments(exchange.request.params)
            kept = self._store.find(arguments.handle)
            if kept is None or not self._may_read(kept, exchange.session.state):
                raise UNKNOWN
            answer = await finish_in_thread(self._read, kept, arguments)
        except TooltrayError as error:
            return meta_tools.refusal(error, exchange.era)
        for server, tool in kept.tools:
            self._guard.note_again(self._tools.routes(server).get(tool), server, exchange.session.state)
        blocks = (answer.block, dump({"type": "text", "text": f"[{answer.note}]"}))
        return own_result("tools/call", closed({"content": meta_tools.array(blocks), "isError": Raw(b"false")}), exchange.era)

    def _may_read(self, kept: KeptResult, state: SessionState) -> bool:
        is_owners = kept.owner == state.owner and kept.project in ("", project_of(state))
        return is_owners and all(self._may_have(server, tool, state) for server, tool in kept.tools)

    def _may_have(self, server: str, tool: str, state: SessionState) -> bool:
        if state.server not in (None, server) or not self._views.reaches(state, server):
            return False
        route = self._tools.routes(server).get(tool)  # None if its server does not offer it any more
        return route is None or self._views.offers(state, route)  # a profile may have the server, but not this tool

    def _read(self, kept: KeptResult, arguments: ReadArguments) -> Answer:
        """Reads the requested part, line or byte range; blocks.

        Raises:
            TooltrayError: the result has no such part, line or byte; in words for a model.
        """
        if not 1 <= arguments.part <= len(kept.parts):
            raise TooltrayError(f"this result has no part {arguments.part}", f"it has {len(kept.parts)}, from 1")
        tokens = max(kept.tokens - NOTICE_TOKENS, SHORTEST_TOKENS)
        try:
            with open(self._store.data(kept), "rb", opener=open_regular) as file:
                return _PartReader(file, kept.parts[arguments.part - 1], tokens).read(arguments)
        except OSError:
            raise UNKNOWN from None  # it was just deleted to make room for another result


class _PartReader:
    """Reads one part of a result. Positions are bytes of the part."""

    def __init__(self, file: BufferedReader, part: KeptPart, tokens: int) -> None:
        self._file, self._part, self._tokens = file, part, tokens

    def read(self, arguments: ReadArguments) -> Answer:
        if self._part.kind == BLOCK:
            return Answer(Raw(self._bytes(0, self._part.size)), f"{self._part.title}, whole: {self._part.size:,} bytes")
        if arguments.grep is not None:
            return self._grep(arguments.grep, arguments.offset)
        start, end = self._range(*line_range(arguments.lines)) if arguments.lines else (0, self._part.size)
        return self._page(max(start, arguments.offset), end)

    def _page(self, start: int, end: int) -> Answer:
        if start > end:
            raise TooltrayError(f"the offset {start:,} is past the end", f"this part has {self._part.size:,} bytes")
        begin = self._character(start)
        most_bytes = self._tokens * LONGEST_TOKEN_BYTES + LONGEST_CHARACTER_BYTES
        shown = page([self._bytes(begin, min(end, begin + most_bytes))], self._tokens).utf8
        stop = begin + len(shown)
        if stop >= self._part.size:
            next_step = "the end"
        elif stop < end:
            next_step = f'continue with "offset": {stop}'
        else:
            next_step = f'the end of these lines; what follows begins at "offset": {stop}'
        return _answer(shown, f"bytes {begin:,} to {stop:,} of {self._part.size:,}; {next_step}")

    def _grep(self, words: str, offset: int) -> Answer:
        if not 0 < len(words) <= LONGEST_WORDS or "\n" in words:
            raise TooltrayError("grep cannot search for this", f"it takes 1 to {LONGEST_WORDS} characters of one line")
        start = self._character(offset)
        number = 1 + sum(block.count(b"\n") for block in self._blocks(start))
        self._file.seek(self._part.at + start)
        shown, left = bytearray(), self._tokens
        for hit in search(self._file, self._part.size, words.encode("utf-8", "surrogatepass"), at=start, number=number):
            place = f"{hit.number}: " if hit.is_whole else f"{hit.number} (byte {hit.at}): "
            line = place.encode() + hit.utf8 + b"\n"
            tokens = estimate_tokens(line)
            if tokens > left and shown:
                return _answer(shown, _lines_note(f'there are more: continue with "offset": {hit.at}'))
            if tokens > left:
                more = f'the line is cut, and there may be more: continue with "offset": {hit.at + len(hit.utf8)}'
                return _answer(page([line], left).utf8, _lines_note(more))
            shown, left = shown + line, left - tokens
        if shown:
            return _answer(shown, _lines_note("these are all matches"))
        where = f" after {start:,}" if start else ""
        return _answer(b"", f"no line with these words in the {self._part.size:,} bytes of this part{where}")

    def _range(self, first: int, last: int) -> tuple[int, int]:
        """Returns where some lines begin and end.

        Raises:
            TooltrayError: the part has fewer lines.
        """
        start, end = self._line_start(first), self._line_start(last + 1)
        if start is None:
            ends = sum(block.count(b"\n") for block in self._blocks(self._part.size))
            lines = ends if self._bytes(self._part.size - 1, self._part.size) == b"\n" else ends + 1
            raise TooltrayError(f"line {first:,} does not exist", f"this part has {lines:,} lines")
        return start, self._part.size if end is None else end

    def _line_start(self, number: int) -> int | None:
        """Returns where a line begins; None if the part has fewer lines."""
        at, ends = 0, number - 1  # line ends before the line
        for block in self._blocks(self._part.size):
            inside = block.count(b"\n")
            if inside >= ends:
                within = 0
                for _ in range(ends):
                    within = block.index(b"\n", within) + 1
                return at + within if at + within < self._part.size or number == 1 else None
            at, ends = at + len(block), ends - inside
        return None

    def _character(self, offset: int) -> int:
        """Returns where the next character begins, at `offset` or shortly behind it."""
        offset = min(offset, self._part.size)  # a file accepts no larger positions
        following = self._bytes(offset, min(offset + LONGEST_CHARACTER_BYTES, self._part.size))
        return offset + next((at for at, byte in enumerate(following) if byte & 0xC0 != 0x80), len(following))

    def _blocks(self, end: int) -> Iterator[bytes]:
        """Yields the part up to `end`; a block may end within a character."""
        for at in range(0, end, READ_BYTES):
            yield self._bytes(at, min(at + READ_BYTES, end))

    def _bytes(self, start: int, end: int) -> bytes:
        self._file.seek(self._part.at + start)
        return self._file.read(max(end - start, 0))


def read_arguments(params: Raw) -> ReadArguments:
    """Reads the arguments out of a call's parameters.

    Raises:
        TooltrayError: one is missing or of the wrong kind; in words for a model.
    """
    try:
        arguments = msgspec.json.decode(opened(params).get("arguments", NOTHING) or b"{}", type=ReadArguments)
    except (ValueError, RecursionError) as error:
        raise TooltrayError("read_result cannot use these arguments", str(error), _TAKES) from None
    if arguments.lines is not None and arguments.grep is not None:
        raise TooltrayError("read_result takes one of lines and grep at a time")
    if arguments.offset < 0:
        raise TooltrayError("the offset is 0 or more")
    return arguments


def line_range(lines: str) -> tuple[int, int]:
    """Returns the first line and the last one, from 1: of "100-200", "100-" or "100".

    Raises:
        TooltrayError: the range is malformed; in words for a model.
    """
    match = _LINES.fullmatch(lines)
    first = int(match[1]) if match else 0
    last = (int(match[3]) if match[3] else NO_END if match[2] else first) if match else 0
    if not 1 <= first <= last:
        raise TooltrayError(f"{lines[:40]!r} is not a range of lines", hint='It looks like "100-200", and the first line is 1.')
    return first, last


def _answer(utf8: bytes | bytearray, note: str) -> Answer:
    return Answer(dump({"type": "text", "text": text_of(bytes(utf8))}), note)


def _lines_note(how_on: str) -> str:
    return f"line: text, or line (byte): a part of a long line; {how_on}"
