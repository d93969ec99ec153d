"""Renames servers of the settings, with all that is kept elsewhere under their names."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from tooltray.config.settings import server_edits
from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_name
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_edits import name_is_taken
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import read_regular
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.servers.sign_ins.sign_ins import SignIns

logger = logging.getLogger(__name__)
Moves = Callable[[str, str], Sequence[Awaitable[None]]]
"""Gives what is kept under a server's name to its new name: at once in memory, on the disk by what it returns. May be repeated."""


class _Note(msgspec.Struct):
    before: str
    after: str


class ServerRenames:
    """The renames of servers. Belongs to the engine's loop.

    A rename is five steps, and a hub that is killed between any two of them leaves a state that works:

    1. The tokens of a sign-in are stored under the new name, too, since a keyring may ask the user, and refuse.
    2. A note with both names is written.
    3. The settings get the new name, in one write: from here on the server has it.
    4. Every other store moves what it has: in memory before anyone hears of the new settings, then on the disk. The folder of a sandboxed
       server follows when the server has ended.
    5. The note is deleted.

    The next hub that finds a note repeats step 4 if the settings have the new name, and takes back step 1 if they have the old one.
    """

    def __init__(self, *, config: McpConfHelper, note: Path, sign_ins: SignIns, moves: Moves, spawn: Spawn) -> None:
        """
        Args:
            note: the file of step 2.
        """
        self._config, self._note, self._sign_ins, self._moves, self._spawn = config, note, sign_ins, moves, spawn
        self._lock = asyncio.Lock()

    async def rename(self, name: str, new_name: str) -> None:
        """Implements ServersApi.rename_mcp_server, for a server that exists and does not come with Tooltray."""
        if server := self._config.file_server(name):
            title = Phrase("'{name}' is not changed", name=name)
            raise TooltrayError(title, Phrase("its entry is in {file}", file=server.file), Phrase("Change it there."))
        async with self._lock:
            check_name(new_name, BUILTIN_NAMES)
            if new_name in self._config.settings.mcp_servers or new_name in self._config.names:
                raise name_is_taken(new_name)
            finishing: list[asyncio.Task[None]] = []

            def on_written() -> None:
                rest = self._moves(name, new_name)
                finishing.append(self._spawn(self._finish(rest), name=f"move what '{name}' had to '{new_name}'"))

            try:
                await self._sign_ins.copy(name, new_name)
                await finish_in_thread(self._write_note, _Note(name, new_name))
                await self._config.edit(server_edits.renamed(name, new_name), on_written)
            except TooltrayError:
                await self._take_back(new_name)
                raise
            await asyncio.wait(finishing)  # does not end them if the caller is cancelled

    async def resume(self) -> None:
        """Finishes the rename of a hub that was killed meanwhile, if there is a note; before the servers are loaded."""
        try:
            note = msgspec.json.decode(await finish_in_thread(read_regular, self._note), type=_Note)
        except (OSError, ValueError) as error:
            logger.warning("%s cannot be read: %s", self._note, error)
            return
        names = self._config.names
        if note.before in names:
            await (self._delete_note() if note.after in names else self._take_back(note.after))
        elif note.after in names:  # else the settings cannot be read now
            await self._finish(self._moves(note.before, note.after))

    async def _finish(self, rest: Sequence[Awaitable[None]]) -> None:
        failed = [each for each in await asyncio.gather(*rest, return_exceptions=True) if each is not None]
        for error in failed:
            logger.warning("a part of what a renamed server had is still under its old name: %s", error)
        if not failed:
            await self._delete_note()

    async def _take_back(self, new_name: str) -> None:
        with suppress(TooltrayError):  # they can be used for nothing but the address that they are for
            await self._sign_ins.forget(new_name)
        await self._delete_note()

    def _write_note(self, note: _Note) -> None:
        try:
            write_atomically(self._note, msgspec.json.encode(note))
        except OSError as error:
            reason = Phrase("{place}: {reason}", place=self._note, reason=error.strerror or str(error))
            raise TooltrayError(Phrase("'{name}' is not changed", name=note.before), reason) from None

    async def _delete_note(self) -> None:
        with suppress(OSError):
            await finish_in_thread(self._note.unlink, missing_ok=True)
