"""A result that is larger than a client is to have becomes its beginning, what else there is, and a handle to read it by.

Above it: ToolCalls and ServerTasks, which ask for it where a limit applies. Below it: ResultParts, pages, ResultStore. The work is done in
a thread and on the result's own bytes. A result within the limit comes back as it is; so does one that cannot be kept.
"""

import logging
import re
import time
from collections.abc import Sequence

import msgspec
from msgspec import Raw

from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.hub_tools import HubTools
from tooltray.catalogue.views.result_limits import ResultLimits, ResultTerms
from tooltray.catalogue.views.tool_costs import Count
from tooltray.consent.approvals.flow_guard import FlowGuard
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.gateway.kept_results.pages import page
from tooltray.gateway.kept_results.result_parts import BLOCK, CONTENT, STRUCTURED, TEXT, ResultPart, parts_of, repeated, text_of
from tooltray.gateway.kept_results.result_store import KEPT_FOR_S, KeptPart, KeptResult, ResultStore, new_handle
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.client_limits import KnownLimits
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState

READ_AT_ONCE_BYTES = 2**16  # takes a tenth of a millisecond
NOTICE_TOKENS = 250  # for the words about what was cut; they have 150, and as many again for a few parts
SHORTEST_TOKENS = 50  # of the beginning, however small the limit is
_HAS_STRUCTURE = re.compile(b'"structuredContent"')
MOST_NAMED = 20  # parts in these words
MOST_ALLOWED_CHARACTERS = 500_000  # what `anthropic/maxResultSizeChars` can ask for at most, as its host has it
MAX_CHARACTERS_KEY = "anthropic/maxResultSizeChars"
logger = logging.getLogger(__name__)


class _Order(msgspec.Struct, frozen=True):
    """What is to be done with one result, for a thread.

    Attributes:
        tokens: as many as fit.
        characters: so many of text fit in any case; 0: the tokens alone count.
        has_view: a view of the tool's shows the structured content; models do not read it.
        owner, project, server, tool: see KeptResult.
        reader: the name by which the client calls `read_result`.
    """

    tokens: int
    characters: int
    has_view: bool
    owner: str
    project: str
    server: str
    tool: str
    reader: str


class ResultFitting:
    """Belongs to the engine's loop.

    Attributes:
        problems: for a person: the last result could not be kept.
    """

    def __init__(
        self,
        *,
        store: ResultStore,
        count: Count,
        tools: ToolManager,
        hub_tools: HubTools,
        client_limits: KnownLimits,
        result_limits: ResultLimits,
        flow_guard: FlowGuard,
    ) -> None:
        self._store, self._count, self._tools, self._hub_tools = store, count, tools, hub_tools
        self._limits, self._guard = client_limits, flow_guard
        self.terms = result_limits.of_call  # asked for with every call
        self.problems: tuple[Problem, ...] = ()

    async def of_task(self, server: str, tool: str, exchange: Exchange, reply: Envelope) -> Envelope:
        """The same for the result of a task.

        Args:
            tool: the server's own name for it.
        """
        route = self._tools.routes(server).get(tool)
        self.note_told(server, tool, exchange.session.state)
        terms = self.terms(route, exchange.session.state) if route else None
        return await self.fitted(reply, terms, route, exchange) if route and terms else reply

    def note_told(self, server: str, tool: str, state: SessionState) -> None:
        """The result of a task goes to a session, which the flow guard is to know."""
        self._guard.note_again(self._tools.routes(server).get(tool), server, state)

    async def fitted(self, reply: Envelope, terms: ResultTerms, route: Route, exchange: Exchange) -> Envelope:
        """A reply that is as its client is to have it; the same one if it is so already.

        Args:
            reply: with a result, of a tool.
            route: of this tool.
        """
        has_view = exchange.session.state.shows_views and bool(route.definition.view.uris)
        if terms.reads and not has_view:
            reply = await self._said_once(reply, terms.reads)
        if terms.tokens is None or len(memoryview(reply.result)) <= terms.tokens:  # each token has at least a byte; also of an error
            return reply
        order = self._order(terms.tokens, route, exchange)
        try:
            result = await finish_in_thread(self._fit, reply.result, order)
        except OSError as error:
            self._tell(order, error)
            return reply
        if result is None:
            return reply
        self.problems = ()
        exchange.course.cut_from = len(memoryview(reply.result))
        return Envelope(result=result)

    async def _said_once(self, reply: Envelope, reads: str) -> Envelope:
        """Without what its client does not read, where that says nothing of its own; beside the event loop where it is large."""
        if not reply.result or not _HAS_STRUCTURE.search(memoryview(reply.result)):
            return reply
        is_small = len(memoryview(reply.result)) <= READ_AT_ONCE_BYTES
        result = said_once(reply.result, reads) if is_small else await finish_in_thread(said_once, reply.result, reads)
        return reply if result is None else Envelope(result=result)

    def _order(self, tokens: int, route: Route, exchange: Exchange) -> _Order:
        state = exchange.session.state
        honours = self._limits.limits_of(state.client).allows_larger_results
        characters = allowed_characters(route.definition.raw) if honours else 0
        has_view = state.shows_views and bool(route.definition.view.uris)
        return _Order(
            tokens=tokens,
            characters=characters,
            has_view=has_view,
            owner=state.owner,
            project=project_of(state),
            server=route.server,
            tool=route.definition.name,
            reader=self._hub_tools.reader_name(state.server),
        )

    def _tell(self, order: _Order, error: OSError) -> None:
        logger.warning("a large result of %s of '%s' is delivered whole: %s", order.tool, order.server, error)
        title = Phrase("A large result of '{server}' was delivered whole", server=order.server)
        message = Phrase("it could not be kept to be read page by page: {why}", why=error.strerror or str(error))
        self.problems = (Problem(title, message, Phrase("Free some space, or allow more megabytes: results.megabytes in the settings.")),)

    def _fit(self, result: Raw, order: _Order) -> Raw | None:
        """In a thread. None: it fits.

        Raises:
            OSError: it cannot be kept.
        """
        members = opened(result)
        parts = parts_of(members)
        if not parts:
            return None
        if order.has_view or repeated(parts):
            parts = [part for part in parts if part.title != STRUCTURED]
        if order.characters and _has_at_most(parts, order.characters):
            return None
        shown = _Shown(order.tokens, self._count)
        if shown.add_all(parts):
            return None
        shown = _Shown(max(order.tokens - NOTICE_TOKENS, SHORTEST_TOKENS), self._count)
        if shown.add_all(parts):
            return None  # the tokenizer has just gone away, and by the estimate it fits
        kept = self._store.keep(_described(new_handle(), parts, order), (part.pieces() for part in parts))
        blocks = [*shown.blocks, dump({"type": "text", "text": _notice(kept, shown, order)})]
        others = {name: value for name, value in members.items() if order.has_view or name != STRUCTURED}
        return closed(others | {CONTENT: Raw(b"[%b]" % b",".join(map(bytes, blocks)))})


def said_once(result: Raw, reads: str) -> Raw | None:
    """A result that says the same twice, without what is not read; None: it says no such thing."""
    members = opened(result)
    parts = parts_of(members)
    if not parts or not repeated(parts):
        return None
    if reads == TEXT:
        return closed({name: value for name, value in members.items() if name != STRUCTURED})
    return closed({**members, CONTENT: Raw(b"[]")})


class _Shown:
    """What of a result stays in it.

    Attributes:
        blocks: the content that stays.
        cut: for each part, how many bytes of it are there.
    """

    def __init__(self, tokens: int, count: Count) -> None:
        self._left, self._count = tokens, count
        self.blocks, self.cut = list[Raw](), list[int]()

    def add_all(self, parts: Sequence[ResultPart]) -> bool:
        """Whether they all fit."""
        added = [self._add(part) for part in parts]
        return all(added)

    def _add(self, part: ResultPart) -> bool:
        if part.kind == BLOCK:
            return self._add_block(part)
        begun = page(part.pieces(), self._left, self._count) if self._left else None
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
    """Whether the texts have no more characters, and nothing else is there: the host counts images otherwise."""
    if any(part.kind == BLOCK for part in parts):
        return False
    for part in parts:
        for piece in part.pieces():
            characters -= len(text_of(piece))
            if characters < 0:
                return False
    return True


def _described(handle: str, parts: Sequence[ResultPart], order: _Order) -> KeptResult:
    return KeptResult(
        handle=handle,
        owner=order.owner,
        project=order.project,
        server=order.server,
        tool=order.tool,
        tokens=order.tokens,
        kept_at=time.time(),
        parts=tuple(KeptPart(part.kind, part.title) for part in parts),
    )


def _notice(kept: KeptResult, shown: _Shown, order: _Order) -> str:
    """For the model."""
    place, cut = next((place, cut) for place, cut in enumerate(shown.cut) if cut < kept.parts[place].size)
    part = kept.parts[place]
    until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(kept.kept_at + KEPT_FOR_S))
    goes_on = "" if part.kind == BLOCK else f' "offset": {cut},'
    of_part = f' "part": {place + 1},' if len(kept.parts) > 1 else ""
    words = [
        f"[Cut by Tooltray: this result is larger than {order.tokens:,} tokens, and you see its beginning. It has {kept.size:,} bytes. "
        f'To go on, call {order.reader} with {{"handle": "{kept.handle}",{of_part}{goes_on}'.rstrip(",")
        + "}. "
        'In the place of "offset" it takes "lines": "100-200", "grep": "words to find", or, of JSON, "path": "$.items[0].name". '
        f"Kept until {until}.]"
    ]
    if len(kept.parts) > 1:
        words += [f"part {number}: {each.title}, {each.size:,} bytes" for number, each in enumerate(kept.parts[:MOST_NAMED], 1)]
        words += [f"and {len(kept.parts) - MOST_NAMED} more parts"] if len(kept.parts) > MOST_NAMED else []
    return "\n".join(words)


def allowed_characters(definition: Raw) -> int:
    """How many characters a tool's definition says its results may have; 0 if it does not say."""
    try:
        meta = opened(opened(definition).get("_meta", Raw(b"{}")))
        characters = int(bytes(meta.get(MAX_CHARACTERS_KEY, Raw(b"0"))))
    except ValueError:
        return 0
    return min(max(characters, 0), MOST_ALLOWED_CHARACTERS)


def project_of(state: SessionState) -> str:
    """The folder of the project that a session works on; empty: none is known."""
    return state.project.path if state.project else ""
