"""Counts the tokens of many small texts one after the other, in a process that stays for a while: its start takes a second.

Above it: ResultFitting and ResultReading. Below it: the module catalogue/token_counts, run as a program.
"""

import asyncio
import json
import logging
import subprocess
import threading
from collections.abc import Sequence

from tooltray.catalogue.token_counts import LONGEST_S, STAY
from tooltray.foundation.programs import module_command

logger = logging.getLogger(__name__)
ENDS_WITHIN_S = 2.0  # it has nothing to do by then
MOST_TRIES = 2  # the process may have ended a moment ago, because nobody asked


class TokenCounter:
    """`__call__` blocks and may be called from any thread; one at a time is answered."""

    def __init__(self, command: Sequence[str] = ()) -> None:
        """
        Args:
            command: in the place of the tokenizer's own, for tests.
        """
        self._command = list(command) or module_command("tooltray.catalogue.token_counts", STAY)
        self._asking = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, texts: Sequence[str]) -> list[int] | None:
        """How many tokens each text is; None where there is no tokenizer for this system."""
        question = json.dumps([text.encode("utf-8", "replace").decode() for text in texts]).encode() + b"\n"
        with self._asking:
            for _ in range(MOST_TRIES):
                if counts := self._answer(question):
                    return counts
        return None

    async def close(self) -> None:
        """Ends the process."""
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.communicate(timeout=ENDS_WITHIN_S)  # it ends when its stdin does
        except (OSError, ValueError, subprocess.TimeoutExpired):
            process.kill()
            process.communicate()

    def _answer(self, question: bytes) -> list[int] | None:
        try:
            process = self._process or self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            watch = threading.Timer(LONGEST_S, process.kill)  # one that hangs is ended
            watch.daemon = True
            watch.start()
            try:
                process.stdin.write(question)
                process.stdin.flush()
                counts: list[int] = json.loads(process.stdout.readline())
            finally:
                watch.cancel()
        except (OSError, ValueError) as error:
            logger.info("tokens are estimated, not counted: %s", error)
            self._end()
            return None
        return counts

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=2**16
        )
        return self._process
