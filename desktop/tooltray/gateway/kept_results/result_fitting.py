"""Cuts a result to the number of tokens that its client may have: its beginning, a list of what was left out, and a handle for reading the
rest.

Works in a thread and on the result's own bytes. A result within the limit is unchanged, and so is one that cannot be saved.
"""

import logging
import time
from collections.abc import Sequence

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.known_clients import KnownClients, ResultTerms
from tooltray.catalogue.views.meta_tools import HubTools
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.foundation.errors import Problem
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.gateway.kept_results.result_parts import BLOCK, CONTENT, STRUCTURED, TEXT, ResultPart, page, parts_of, repeated, text_of
from tooltray.gateway.kept_results.result_store import KEPT_FOR_S, KeptPart, KeptResult, ResultStore, new_handle
from tooltray.gateway.kept_results.tables import with_csv
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.client_limits import KnownLimits
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState

READ_AT_ONCE_BYTES = 2**16  # takes a tenth of a millisecond
WRITTEN_AT_ONCE_BYTES = 2**12  # as CSV, which takes a fifth of a millisecond
NOTICE_TOKENS = 250  # for the notice about what was cut; it has 150, and as many again for a few parts
NO_LIMIT = 10**9  # tokens, more than any limit
SHORTEST_TOKENS = 50  # of the beginning, however small the limit is
_HAS_STRUCTURE = lazy_pattern(b'"structuredContent"')
MOST_NAMED = 20  # parts in these words
MOST_ALLOWED_CHARACTERS = 500_000  # the largest `anthropic/maxResultSizeChars` that its host accepts
MAX_CHARACTERS_KEY = "anthropic/maxResultSizeChars"
logger = logging.getLogger(__name__)


class _Order(msgspec.Struct, frozen=True):
    """How to fit one result, for a thread.

    Attributes:
        kept: the description to save, without handle and parts.
        characters: a text of at most so many characters fits in any case; 0: only tokens count.
        has_view: the tool's view shows the structured content, which models do not read.
        reader: the name by which the client calls `read_result`.
    """

    kept: KeptResult
    characters: int
    has_view: bool
    reader: str


class ResultFitting:
    """Fits the results of calls and tasks. Belongs to the engine's loop.

    Attributes:
        problems: for the user: the last result could not be saved.
    """

    def __init__(
        self,
        *,
        store: ResultStore,
        tools: ToolManager,
        hub_tools: HubTools,
        client_limits: KnownLimits,
        clients: KnownClients,
        flow_guard: FlowGuard,
    ) -> None:
        self._store, self._tools, self._hub_tools = store, tools, hub_tools
        self._limits, self._clients, self._guard = client_limits, clients, flow_guard
        self.problems: tuple[Problem, ...] = ()

    async def fit_task(self, server: str, tool: str, exchange: Exchange, reply: Envelope) -> Envelope:
        """Fits the result of a task; see fitted.

        Args:
            tool: the server's own name for it.
        """
        route = self._tools.routes(server).get(tool)
        self.record_delivery(server, tool, exchange.session.state)
        terms = self._clients.result_terms(route, exchange.session.state) if route else None
        return await self.fitted(reply, terms, route, exchange) if route and terms else reply

    def record_delivery(self, server: str, tool: str, state: SessionState) -> None:
        """Records for the flow guard that the result of a task reached a session."""
        self._guard.note_again(self._tools.routes(server).get(tool), server, state)

    async def fitted(self, reply: Envelope, terms: ResultTerms, route: Route, exchange: Exchange) -> Envelope:
        """Returns the reply that its client may have; the same one if it fits already.

        Args:
            reply: with the result of a tool.
            route: the tool.
        """
        order = self._order(terms.tokens or 0, route, exchange)
        return await self._by_order(reply, terms, order, exchange)

    async def fit_chain(self, reply: Envelope, routes: Sequence[Route], exchange: Exchange) -> Envelope:
        """Fits the result of a chain of calls: of the limits of its tools the smallest one counts.

        Args:
            routes: the tools that were called.
        """
        state = exchange.session.state
        found = [(terms, route) for route in routes if (terms := self._clients.result_terms(route, state))]
        if not found:
            return reply
        terms, first = min(found, key=lambda each: each[0].tokens or NO_LIMIT)
        others = tuple((route.server, route.definition.name) for route in routes if route is not first)
        order = self._order(terms.tokens or 0, first, exchange)
        order = replace(order, characters=0, has_view=False, kept=replace(order.kept, others=others))
        return await self._by_order(reply, terms, order, exchange)

    async def _by_order(self, reply: Envelope, terms: ResultTerms, order: _Order, exchange: Exchange) -> Envelope:
        if terms.reads and not order.has_view:
            reply = await self._without_repetition(reply, terms.reads)
        if terms.csv_tables and not order.has_view:
            is_small = len(memoryview(reply.result)) <= WRITTEN_AT_ONCE_BYTES
            result = with_csv(reply.result) if is_small else await finish_in_thread(with_csv, reply.result)
            reply = reply if result is None else Envelope(result=result)
        if terms.tokens is None or len(memoryview(reply.result)) <= terms.tokens:  # each token has at least a byte; also of an error
            return reply
        try:
            result = await finish_in_thread(self._fit, reply.result, order)
        except OSError as error:
            self._report(order.kept, error)
            return reply
        if result is None:
            return reply
        self.problems = ()
        exchange.timings.cut_from = len(memoryview(reply.result))
        return Envelope(result=result)

    async def _without_repetition(self, reply: Envelope, reads: str) -> Envelope:
        """Leaves out the part that the client does not read, if it repeats the rest; in a thread if the result is large."""
        if not reply.result or not _HAS_STRUCTURE.search(memoryview(reply.result)):
            return reply
        is_small = len(memoryview(reply.result)) <= READ_AT_ONCE_BYTES
        result = without_repetition(reply.result, reads) if is_small else await finish_in_thread(without_repetition, reply.result, reads)
        return reply if result is None else Envelope(result=result)

    def _order(self, tokens: int, route: Route, exchange: Exchange) -> _Order:
        state = exchange.session.state
        honours = self._limits.limits_of(state.client).allows_larger_results
        characters = allowed_characters(route.definition.raw) if honours else 0
        has_view = state.shows_views and bool(route.definition.view.uris)
        kept = KeptResult("", state.owner, project_of(state), route.server, route.definition.name, tokens, time.time(), ())
        return _Order(kept, characters, has_view, self._hub_tools.reader_name(state.server))

    def _report(self, kept: KeptResult, error: OSError) -> None:
        logger.warning("a large result of %s of '%s' is delivered whole: %s", kept.tool, kept.server, error)
        title = Phrase("A large result of '{server}' was delivered whole", server=kept.server)
        message = Phrase("it could not be kept to be read page by page: {why}", why=error.strerror or str(error))
        self.problems = (Problem(title, message, Phrase("Free some space, or allow more megabytes: results.megabytes in the settings.")),)

    def _fit(self, result: Raw, order: _Order) -> Raw | None:
        """Fits a result and saves the whole; None if it fits as it is. Blocks.

        Raises:
            OSError: it cannot be saved.
        """
        members = opened(result)
        parts = parts_of(members)
        if not parts:
            return None
        if order.has_view or repeated(parts):
            parts = [part for part in parts if part.title != STRUCTURED]
        if order.characters and _has_at_most(parts, order.characters):
            return None
        if _Shown(order.kept.tokens).add_all(parts):
            return None
        shown = _Shown(max(order.kept.tokens - NOTICE_TOKENS, SHORTEST_TOKENS))
        shown.add_all(parts)
        described = tuple(KeptPart(part.kind, part.title) for part in parts)
        kept = self._store.save(replace(order.kept, handle=new_handle(), parts=described), (part.pieces() for part in parts))
        blocks = [*shown.blocks, dump({"type": "text", "text": _notice(kept, shown, order.reader)})]
        others = {name: value for name, value in members.items() if order.has_view or name != STRUCTURED}
        return closed(others | {CONTENT: Raw(b"[%b]" % b",".join(map(bytes, blocks)))})


def without_repetition(result: Raw, reads: str) -> Raw | None:
    """Returns a result without the part that its client does not read; None if the two parts have different content."""
    members = opened(result)
    parts = parts_of(members)
    if not parts or not repeated(parts):
        return None
    if reads == TEXT:
        return closed({name: value for name, value in members.items() if name != STRUCTURED})
    return closed({**members, CONTENT: Raw(b"[]")})


class _Shown:
    """The content that fits into a number of tokens.

    Attributes:
        blocks: the content.
        cut: for each part, how many of its bytes are in the blocks.
    """

    def __init__(self, tokens: int) -> None:
        self._left = tokens
        self.blocks, self.cut = list[Raw](), list[int]()

    def add_all(self, parts: Sequence[ResultPart]) -> bool:
        """Adds parts as far as they fit; returns whether all do."""
        added = [self._add(part) for part in parts]
        return all(added)

    def _add(self, part: ResultPart) -> bool:
        if part.kind == BLOCK:
            return self._add_block(part)
        begun = page(part.pieces(), self._left) if self._left else None
        self.cut.append(len(begun.utf8) if begun else 0)
        if begun is None:
            return False
        self._left -= begun.tokens
        self.blocks.append(part.raw if part.kind == TEXT and begun.is_all else _text_block(part, begun.utf8))
        return begun.is_all

    def _add_block(self, part: ResultPart) -> bool:
        fits = part.block_tokens <= self._left
        self.cut.append(len(memoryview(part.raw)) if fits else 0)
        if fits:
            self._left -= part.block_tokens
            self.blocks.append(part.raw)
        return fits


def _text_block(part: ResultPart, utf8: bytes) -> Raw:
    text = dump(text_of(utf8))
    of_block = opened(part.raw) if part.kind == TEXT and part.title == "text" else {}
    return closed({"type": Raw(b'"text"'), **of_block, "text": text})


def _has_at_most(parts: Sequence[ResultPart], characters: int) -> bool:
    """Returns whether there are only texts with no more characters; the host counts images otherwise."""
    if any(part.kind == BLOCK for part in parts):
        return False
    for part in parts:
        for piece in part.pieces():
            characters -= len(text_of(piece))
            if characters < 0:
                return False
    return True


def _notice(kept: KeptResult, shown: _Shown, reader: str) -> str:
    """Returns the notice for the model about a cut result."""
    place, cut = next((place, cut) for place, cut in enumerate(shown.cut) if cut < kept.parts[place].size)
    part = kept.parts[place]
    until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(kept.kept_at + KEPT_FOR_S))
    goes_on = "" if part.kind == BLOCK else f' "offset": {cut},'
    of_part = f' "part": {place + 1},' if len(kept.parts) > 1 else ""
    words = [
        f"[Cut by Tooltray: this result is larger than {kept.tokens:,} tokens; you see its beginning. It has {kept.size:,} bytes. "
        f'To continue, call {reader} with {{"handle": "{kept.handle}",{of_part}{goes_on}'.rstrip(",")
        + "}. "
        'It also takes "lines": "100-200" or "grep": "words to find". '
        f"Kept until {until}.]"
    ]
    if len(kept.parts) > 1:
        words += [f"part {number}: {each.title}, {each.size:,} bytes" for number, each in enumerate(kept.parts[:MOST_NAMED], 1)]
        words += [f"and {len(kept.parts) - MOST_NAMED} more parts"] if len(kept.parts) > MOST_NAMED else []
    return "\n".join(words)


def allowed_characters(definition: Raw) -> int:
    """Returns how many characters the results of a tool may have by its definition; 0 if it sets none."""
    try:
        meta = opened(opened(definition).get("_meta", Raw(b"{}")))
        characters = int(bytes(meta.get(MAX_CHARACTERS_KEY, Raw(b"0"))))
    except ValueError:
        return 0
    return min(max(characters, 0), MOST_ALLOWED_CHARACTERS)


def project_of(state: SessionState) -> str:
    """Returns the folder of the project that a session works on; empty if none is known."""
    return state.project.path if state.project else ""
