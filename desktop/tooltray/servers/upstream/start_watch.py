"""Limits the wait for a server that has not answered yet, by what the server does meanwhile; and shows the user the progress of a download.

Five minutes are for packages that are being downloaded. A program that prints text in place of messages is not a server, and a program that
neither downloads nor writes anything will not begin to.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.servers.transports.transport import Output

TEXT_LIMIT_S = 30.0  # after the last line of text with no message: a server greets within seconds once it prints
TEXT_IN_ALL_S = 60.0  # the same from the first line, for one that prints on and on
SILENT_LIMIT_S = 60.0  # twice as long as the most patient AI client waits for a server that it starts itself
LOOK_EVERY_S = 1.0  # often enough for a user who watches a download
SHOWN_TEXT = 120  # characters of its output
SHOWN_PROGRESS = 100


class StartLimits(msgspec.Struct, frozen=True):
    """The limits of a start; all in seconds.

    Attributes:
        text_s: since the last line on stdout, if stdout had text and no message.
        text_in_all_s: since the first such line, of a program that downloads nothing.
        silent_s: since it wrote anything, of a program that downloads nothing, or of a remote server.
        look_every_s: how often these limits are checked.
    """

    text_s: float = TEXT_LIMIT_S
    text_in_all_s: float = TEXT_IN_ALL_S
    silent_s: float = SILENT_LIMIT_S
    look_every_s: float = LOOK_EVERY_S


class Watched(Protocol):
    """The connection that is being opened: McpClient."""

    @property
    def output(self) -> Output | None: ...
    @property
    def has_spoken(self) -> bool: ...


class StartWatch:
    """The watch over one attempt to start. Belongs to the event loop."""

    def __init__(self, *, name: str, watched: Watched, limits: StartLimits, downloads: bool, on_progress: Callable[[str], None]) -> None:
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
            await asyncio.sleep(self._limits.look_every_s)
            await self._tell_progress()
            self.verdict = self._look()
        limit.reschedule(asyncio.get_running_loop().time())

    def _look(self) -> Problem | None:
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

    def _prints_text(self, output: Output) -> Problem:
        title = Phrase("'{name}' prints text where the protocol is expected: '{text}'", name=self._name, text=output.text[:SHOWN_TEXT])
        message = Phrase("A server on stdio writes messages to its standard output and nothing else")
        return Problem(title, message, _hint(output.url) or Phrase("Check its arguments: some need one that says stdio."))

    def _is_silent(self, output: Output | None, seconds: float) -> Problem:
        title = Phrase("'{name}' does not answer", name=self._name)
        message = Phrase("No answer for {seconds} s", seconds=f"{seconds:.0f}")
        if output is None:
            return Problem(title, message, Phrase("Check its URL."))
        if output.last_line:
            message = Phrase("{what}; it last wrote: {line}", what=message, line=output.last_line[:SHOWN_TEXT])
        return Problem(title, message, _hint(output.url) or Phrase("It may be no MCP server, or need other arguments."))

    async def _tell_progress(self) -> None:
        """Reports the progress of a program that downloads: the last line that it wrote, else the path of its own log."""
        output = self._watched.output
        if not self._downloads or output is None:
            return
        line, log = output.last_line[:SHOWN_PROGRESS], ""
        if not line or line.startswith("npm warn"):
            log = await output.launcher_log()
        progress = Phrase("It prints nothing; its own log: {path}", path=log) if log else line
        if progress and progress != self._progress:
            self._progress = progress
            self._on_progress(progress)


def _hint(url: str) -> str:
    return Phrase("If it serves MCP over HTTP, add it by its address: {url}", url=url) if url else ""
