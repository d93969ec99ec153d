"""The API about projects, and servers that start for one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tooltray.foundation.confirmation import confirm_widening, note_narrowing
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.verbs import verb

if TYPE_CHECKING:
    from tooltray.sources.projects.project_choices import ProjectChoices

ALLOWING = Phrase("Allowing a folder")


def _changes_arguments(part: "ProjectsApi", arguments: Mapping[str, Any]) -> bool:
    """Requires a trusted token to change deferred arguments, which are part of the command."""
    return arguments.get("template") is not None or bool(arguments["deferred"])


class ProjectsApi:
    def __init__(self, *, choices: "ProjectChoices") -> None:
        self._choices = choices

    async def get_allowed_folders(self) -> list[str]:
        """The folders that a person has allowed as projects; absolute paths."""
        return self._choices.allowed()

    async def allow_folder(self, path: str) -> str:
        """Allows a folder, and what is in it, as a project; returns its real path.

        Raises:
            TooltrayError: it is no folder that may be a project; says why. Or the settings cannot be written.
        """
        return await self._choices.allow(await self._confirmed(path))

    async def disallow_folder(self, path: str) -> None:
        """Takes that back; what runs for it is stopped.

        Raises:
            TooltrayError: it was not allowed, or the settings cannot be written.
        """
        await self._choices.disallow(path)
        await note_narrowing(ALLOWING, folder=path)

    async def start_for_project(self, server: str, path: str) -> None:
        """A person's choice: starts a deferred server for a folder, which is allowed thereby, and waits for the outcome.

        Sessions of which no project is known use it from now on.

        Raises:
            TooltrayError: there is no such deferred server, the folder cannot be a project, or the server does not start; says why.
        """
        await self._choices.start(server, await self._confirmed(path))

    async def start_without_project(self, server: str) -> None:
        """A person's choice: starts a deferred server as its `args` say, for sessions of which no project is known.

        Raises:
            TooltrayError: there is no such deferred server, its settings cannot do without a project, or it does not start; says why.
        """
        await self._choices.start(server, None)

    async def set_session_project(self, session: str, path: str) -> None:
        """A person's choice: which folder a session works on.

        Args:
            session: its id, as `get_sessions` gives it.

        Raises:
            NotFound: there is no such session.
            TooltrayError: the folder cannot be a project; says why.
        """
        folder = await self._choices.real(path) if self._choices.has(session) else path
        await confirm_widening(Phrase("Choosing a project for an AI client"), session=session, folder=folder)
        await self._choices.choose(session, folder)

    async def reset_deferred_state(self) -> None:
        """Stops every copy of every deferred server, and forgets for which projects they were started: they wait again."""
        await self._choices.reset()

    @verb(trusted=_changes_arguments)
    async def set_deferred(self, server: str, deferred: bool, template: list[str] | None = None) -> None:
        """Chooses whether a server waits for a project, and with which arguments it is started for one.

        Args:
            template: arguments, with {project_path} and {project_name} where the project's are to stand; None: its `args`.

        Raises:
            TooltrayError: there is no such server in the settings, or the settings cannot be written.
        """
        await self._choices.set_deferred(server, deferred, template)

    async def _confirmed(self, path: str) -> str:
        """The folder to which a path leads, once a person has confirmed it: by then the path may lead elsewhere. One in a folder that is
        allowed already widens nothing."""
        folder = await self._choices.real(path)
        if not await self._choices.is_allowed(folder):
            await confirm_widening(ALLOWING, folder=folder)
        return folder
