"""The folders that are allowed as projects: by the user, and for a session also the folder that its own client has sent."""

import asyncio
import os
from collections.abc import Iterator

from tooltray.config.settings.document import Document, texts
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Conflict, Denied, NotFound, Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import quoted
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.project_folder import is_hidden_at_home, is_inside, own_user, real_folder, shown, why_never_allowed

ALLOWED = "allowedFolders"
OWN = "tooltray"  # the caller's name for calls without an AI client, see OwnCaller


class ProjectFolders:
    """The folders that may be projects; belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, home: str) -> None:
        """
        Args:
            home: the user's home folder.
        """
        self._config, self._home = config, home

    def allowed(self) -> list[str]:
        """Returns the folders that the settings name as allowed, usable or not."""
        return list(self._config.settings.allowed_folders)

    def listed(self) -> list[str]:
        """Returns the allowed folders without those that cannot be projects."""
        return [each for each in self.allowed() if not why_never_allowed(each, self._home)]

    def problems(self) -> Iterator[Problem]:
        """Yields a problem for each folder that the settings name as allowed and that cannot be a project."""
        for each in self.allowed():
            if reason := why_never_allowed(each, self._home):
                title, hint = f"'{shown(each)}' is not allowed as a project", "Correct `allowedFolders` in settings.json."
                yield Problem(title, reason, hint)

    async def real(self, text: str) -> str:
        """Returns the real path of a folder that may be a project, allowed or not.

        Raises:
            TooltrayError: it may never be one; the error has the reason.
        """
        return await asyncio.to_thread(self._real, text)

    async def check(self, folder: str) -> None:
        """Checks the real path of a project's folder again.

        Raises:
            TooltrayError: the folder does not exist any more, or leads elsewhere now.
        """
        if (real := await self.real(folder)) != folder:
            reason = Phrase("it has become a link, and leads to '{real}'", real=shown(real))
            raise Conflict(
                Phrase("'{folder}' is not the folder that it was", folder=shown(folder)), reason, Phrase("Name the project's own folder.")
            )

    async def allow(self, text: str) -> str:
        """Implements ProjectsApi.allow_folder."""
        folder = await self.real(text)
        if folder not in self.allowed():

            def edit(document: Document) -> None:
                texts(document, ALLOWED).append(folder)

            await self._config.edit(edit)
        return folder

    async def disallow(self, text: str) -> str:
        """Revokes a folder, also one that does not exist any more; returns its path.

        Raises:
            TooltrayError: it was not allowed, or the settings cannot be written.
        """
        real = await asyncio.to_thread(os.path.realpath, text) if os.path.isabs(text) and "\0" not in text else text
        folder = next((each for each in self.allowed() if each in (text, real)), None)
        if folder is None:
            raise NotFound(
                Phrase("'{text}' is not allowed as a project", text=shown(text)), hint=Phrase("See which are: tooltray projects list")
            )

        def edit(document: Document) -> None:
            document[ALLOWED] = [each for each in texts(document, ALLOWED) if each != folder]

        await self._config.edit(edit)
        return folder

    async def permitted(self, text: str, state: SessionState) -> str:
        """Returns the real path of a folder that a session may have as its project.

        Raises:
            TooltrayError: it may not; the error has the reason, and how the user allows it.
        """
        folder = await self.real(text)
        if not await self.is_permitted(folder, state):
            title = Phrase("'{folder}' is not allowed as a project", folder=shown(folder))
            hint = Phrase("A person allows it with: tooltray projects allow {folder}", folder=quoted(folder))
            reason = (
                Phrase("nobody has allowed it, and it is not where this AI client was started")
                if state.folder
                else Phrase("nobody has allowed it")
            )
            raise Denied(title, reason, hint)
        return folder

    async def is_permitted(self, folder: str, state: SessionState) -> bool:
        """Returns whether a real path is allowed by the user, or is exactly the folder that the session's client sent."""
        return await asyncio.to_thread(self._is_permitted, folder, state.folder, state.roots)

    async def own_folder(self, state: SessionState) -> str:
        """Returns the real path of the folder in which a session's bridge was started, if it can be the session's project.

        A bridge sends the real path, once: a link that is there now was put there since, perhaps by the model.

        Raises:
            TooltrayError: it may not be a project; the error has the reason.
        """
        await self.check(folder := state.folder)
        if await self.is_permitted(folder, state):
            return folder
        hint = Phrase("If it is a project, allow it with: tooltray projects allow {folder}", folder=quoted(folder))
        raise TooltrayError(
            Phrase("'{folder}' is not taken as a project", folder=shown(folder)), Phrase("programs keep their own files there"), hint
        )

    # in threads

    def _real(self, text: str) -> str:
        return real_folder(text, home=self._home, user=own_user())

    def _is_permitted(self, folder: str, own: str, roots: tuple[str, ...]) -> bool:
        if folder in roots or any(is_inside(folder, allowed) for allowed in map(self._real_or_none, self.allowed()) if allowed):
            return True
        return folder == own == self._real_or_none(own) and not is_hidden_at_home(folder, self._home)

    def _real_or_none(self, text: str) -> str | None:
        """Returns the real path of a folder; None if it cannot be a project, or does not exist any more."""
        try:
            return self._real(text)
        except TooltrayError:
            return None
