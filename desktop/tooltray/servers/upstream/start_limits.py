"""The limits of a start: how many servers start at once, how long each may take, and the pauses before the next attempt.

A start may take five minutes while packages are downloaded; the user sees the progress. It is given up earlier if the program prints text
in place of messages, or if it neither downloads nor writes anything.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.npm_config import fetch_in_words
from tooltray.servers.transports.server_output import ServerOutput
from tooltray.servers.upstream.handshake import DISCOVER_TIMEOUT_S
from tooltray.servers.upstream.mcp_client import McpClient

TEXT_LIMIT_S = 30.0  # after the last line of text with no message: a server greets within seconds once it prints
TEXT_IN_ALL_S = 60.0  # the same from the first line, for one that prints on and on
SILENT_LIMIT_S = 60.0  # twice as long as the most patient AI client waits for a server that it starts itself
CHECK_EVERY_S = 1.0  # often enough for a user who watches a download
SHOWN_TEXT = 120  # characters of its output
SHOWN_PROGRESS = 100


class StartLimits(msgspec.Struct, frozen=True):
    """The limits of a start; all in seconds.

    Attributes:
        text_s: since the last line on stdout, if stdout had text and no message.
        text_in_all_s: since the first such line, of a program that downloads nothing.
        silent_s: since it wrote anything, of a program that downloads nothing, or of a remote server.
        check_every_s: how often these limits are checked.
    """

    text_s: float = TEXT_LIMIT_S
    text_in_all_s: float = TEXT_IN_ALL_S
    silent_s: float = SILENT_LIMIT_S
    check_every_s: float = CHECK_EVERY_S


class StartWatch:
    """The watch over one attempt to start. Belongs to the event loop."""

    def __init__(self, *, name: str, watched: McpClient, limits: StartLimits, downloads: bool, on_progress: Callable[[str], None]) -> None:
        """
        Args:
            downloads: whether the program may have to be downloaded first.
            on_progress: called with a text about the progress of a download, when it changes.
        """
        self._name, self._watched, self._limits, self._downloads = name, watched, limits, downloads
        self._on_progress = on_progress
        self._began = asyncio.get_running_loop().time()
        self._progress = ""
        self.verdict: Problem | None = None  # why the wait has ended

    async def run(self, limit: asyncio.Timeout) -> None:
        """Watches until cancelled; ends `limit` when there is nothing more to wait for."""
        while self.verdict is None:
            await asyncio.sleep(self._limits.check_every_s)
            await self._report_progress()
            self.verdict = self._judge()
        limit.reschedule(asyncio.get_running_loop().time())

    def _judge(self) -> Problem | None:
        output, limits, now = self._watched.output, self._limits, asyncio.get_running_loop().time()
        if self._watched.has_spoken:
            return None
        last_at = max(self._began, output.last_at if output else 0.0)
        if output and output.text:
            is_over = not self._downloads and now - output.text_since >= limits.text_in_all_s
            return self._prints_text(output) if is_over or now - last_at >= limits.text_s else None
        if self._downloads or now - last_at < limits.silent_s:
            return None
        return self._is_silent(output, now - last_at)

    def _prints_text(self, output: ServerOutput) -> Problem:
        title = Phrase("'{name}' prints text where the protocol is expected: '{text}'", name=self._name, text=output.text[:SHOWN_TEXT])
        message = Phrase("A server on stdio writes messages to its standard output and nothing else")
        return Problem(title, message, _hint(output.url) or Phrase("Check its arguments: some servers need the argument stdio."))

    def _is_silent(self, output: ServerOutput | None, seconds: float) -> Problem:
        title = Phrase("'{name}' does not answer", name=self._name)
        message = Phrase("No answer for {seconds} s", seconds=f"{seconds:.0f}")
        if output is None:
            return Problem(title, message, Phrase("Check its URL."))
        if output.last_line:
            message = Phrase("{what}; it last wrote: {line}", what=message, line=output.last_line[:SHOWN_TEXT])
        return Problem(title, message, _hint(output.url) or Phrase("It may not be an MCP server, or may need other arguments."))

    async def _report_progress(self) -> None:
        """Reports the progress of a program that downloads: the last line that it wrote, else the path of its own log."""
        output = self._watched.output
        if not self._downloads or output is None:
            return
        line, log = fetch_in_words(output.last_line) or output.last_line[:SHOWN_PROGRESS], ""
        if not line or line.startswith("npm warn"):
            log = await output.launcher_log()
        progress = Phrase("No output yet. Its own log: {path}", path=log) if log else line
        if progress and progress != self._progress:
            self._progress = progress
            self._on_progress(progress)


def _hint(url: str) -> str:
    return Phrase("If it serves MCP over HTTP, add it by its address: {url}", url=url) if url else ""


RESTART_AFTER_S = (1.0, 2.0, 4.0)  # three failures in a row; then the user has to act
HEALTHY_AFTER_S = 60.0  # an instance that ran this long begins to count failures at zero again
START_LIMIT_S = 300.0  # from the first attempt to reach it to its greeting; npx and uvx may have to download the server first
EXPIRY_AFTER_S = 10.0  # a session that ends sooner is a failure, or we would open one after another
SLOW_AFTER_S = 45.0  # from then on the card shows it as slow
REMOTE_RETRY_AFTER_S = (15.0, 30.0, 60.0, 120.0, 300.0)  # a remote server may come back; the last pause stays
PLACES = 8  # on two cores more at once are slower for all
HELD_FOR_S = 3.0  # a longer start does not wait for the processor, but for a download, a network, or nothing at all


class Patience(msgspec.Struct, frozen=True):
    """The limits of the wait for a server, and the pauses between attempts; all in seconds.

    Attributes:
        restart_after_s: one pause per restart in a row.
        healthy_after_s: an instance that ran this long begins to count failures at zero again.
        expiry_after_s: a remote server that ends our session is opened again at once, unless it does so sooner than this.
        start_limit_s: from the first attempt to reach it to its greeting.
        start: limits that end the wait sooner, by the server's behaviour.
        slow_after_s: a start that takes longer is called slow.
        remote_retry_after_s: the pauses after which a remote server is tried again in the background; the last one stays.
        discover_timeout_s: after which a server counts as silent to the modern greeting.
    """

    restart_after_s: tuple[float, ...] = RESTART_AFTER_S
    healthy_after_s: float = HEALTHY_AFTER_S
    expiry_after_s: float = EXPIRY_AFTER_S
    start_limit_s: float = START_LIMIT_S
    start: StartLimits = msgspec.field(default_factory=StartLimits)
    slow_after_s: float = SLOW_AFTER_S
    remote_retry_after_s: tuple[float, ...] = REMOTE_RETRY_AFTER_S
    discover_timeout_s: float = DISCOVER_TIMEOUT_S


class StartGate:
    """The limit on how many servers may be starting at once. Belongs to one event loop.

    A hundred interpreters started together starve each other and the AI client that waits. A server that hangs must not delay the others,
    so a place becomes free after a while even if its server has not answered yet.
    """

    def __init__(self, *, places: int = PLACES, held_for_s: float = HELD_FOR_S) -> None:
        self._free = asyncio.Semaphore(places)
        self._held_for_s = held_for_s

    @contextlib.asynccontextmanager
    async def passage(self) -> AsyncIterator[None]:
        """Waits for a place and keeps it while inside, but no longer than `held_for_s`."""
        await self._free.acquire()
        is_held = True

        def give_back() -> None:
            nonlocal is_held
            if is_held:
                is_held = False
                self._free.release()

        giving_up = asyncio.get_running_loop().call_later(self._held_for_s, give_back)
        try:
            yield
        finally:
            giving_up.cancel()
            give_back()
