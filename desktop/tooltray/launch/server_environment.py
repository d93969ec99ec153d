"""What decides whether servers reach anything: which variables they get, from where, and what was another when one last worked.

Above it: McpPresenter. Below it: the login shell and what completes it. Notes with what each server works.
"""

from tooltray.events import EventBus, ServerStarted
from tooltray.launch.login_shell import LoginShell
from tooltray.launch.network_variables import shown
from tooltray.launch.remembered_variables import RememberedVariables
from tooltray.launch.variable_sources import VariableSources
from tooltray.settings.settings import BUILTIN_NAMES
from tooltray.snapshots.hub import EnvironmentChange, EnvironmentSnapshot, EnvironmentVariable
from tooltray.tasks import Spawn, finish_in_thread


class ServerEnvironment:
    """Belongs to the engine's loop."""

    def __init__(
        self, *, login_shell: LoginShell, sources: VariableSources, remembered: RememberedVariables, bus: EventBus, spawn: Spawn
    ) -> None:
        self._login_shell, self._sources, self._remembered, self._spawn = login_shell, sources, remembered, spawn
        bus.subscribe(ServerStarted, self._on_started)

    async def snapshot(self) -> EnvironmentSnapshot:
        environ = await self._login_shell.environ()
        variables = [
            EnvironmentVariable(name, shown(each.value), each.origin, each.since, each.is_used)
            for name, each in sorted(self._sources.sources.items())
        ]
        changes = [
            EnvironmentChange(server, name, shown(was or ""), shown(environ.get(name, "")))
            for server, had in sorted(self._remembered.worked.items())
            for name, was in sorted(had.items())
            if not environ.get(name) or was not in (None, environ[name])
        ]
        return EnvironmentSnapshot(tuple(variables), tuple(changes))

    async def forget(self) -> None:
        """
        Raises:
            TooltrayError: the file cannot be removed.
        """
        await finish_in_thread(self._remembered.forget)
        self._login_shell.invalidate()

    def _on_started(self, event: ServerStarted) -> None:
        if event.server_name not in BUILTIN_NAMES:
            self._spawn(self._note(event.server_name), name=f"environment of {event.server_name}")

    async def _note(self, server: str) -> None:
        environ = await self._login_shell.environ()
        await finish_in_thread(self._remembered.note_worked, server, environ)
