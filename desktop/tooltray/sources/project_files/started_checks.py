"""Before a server of a project's own file starts: whether the files of the project that it starts are those that a person allowed.

Above it: ServerTransports, which asks last of all. Below it: the trusted entries, started_files, and ServerFiles, which shows that an entry
waits. Between this and the start of the process a file can still be changed; nothing but a copy of all files could prevent that.
"""

import asyncio

from tooltray.config.settings.file_server import FileServer
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.upstream.project_folder import shown
from tooltray.sources.project_files.server_files import FilesInUse, ServerFiles
from tooltray.sources.project_files.started_files import StartedTexts, changed, started_files

MOST_NAMED = 3  # files, in a sentence


class StartedChecks:
    """Belongs to the engine's loop."""

    def __init__(self, *, files_in_use: FilesInUse, files: ServerFiles, texts: StartedTexts) -> None:
        self._trust, self._files, self._texts = files_in_use.trust, files, texts

    async def check(self, server: FileServer) -> None:
        """A consent of an older version knows no files: it takes them as they are now.

        Raises:
            CannotStart: one of them is another one than a person allowed; the entry waits for a yes from now on.
        """
        if server.origin != "project":
            return
        folder, entry = server.folder, server.entry.name
        allowed = self._trust.files(folder, entry)
        now = await asyncio.to_thread(started_files, server.entry.config, folder)
        if allowed is None:
            await self._keep(folder, entry, now)
        elif others := changed(allowed, now):
            self._trust.hold(folder, entry)
            self._files.settle(folder)
            names = ", ".join(shown(each) for each in others[:MOST_NAMED]) + (", …" if len(others) > MOST_NAMED else "")
            title = Phrase("'{name}' waits for your yes", name=shown(entry))
            message = Phrase("what it starts has changed since you allowed it: {files}", files=names)
            raise CannotStart(title, message, Phrase("Look at it in the window, or with: tooltray trust {folder}", folder=shown(folder)))

    async def _keep(self, folder: str, entry: str, now: dict[str, str]) -> None:
        try:
            await self._trust.keep_files(folder, entry, now)
        except TooltrayError:
            return  # as with names: the next start tries again
        await asyncio.to_thread(self._texts.keep, folder, now)
