"""The API about the whole set-up, and remedies that the doctor proposes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.foundation.verbs import always, verb

if TYPE_CHECKING:
    from tooltray.sources.doctor.remedies import Remedies
    from tooltray.sources.entries.server_starts import ServerStarts
    from tooltray.sources.entries.setup import Setup


HARMLESS_REMEDIES = frozenset({"start"})


def _changes_what_runs(part: "SetupApi", arguments: Mapping[str, Any]) -> bool:
    """Requires a trusted token for a remedy that may change what is run, or where its packages come from."""
    return arguments["kind"] not in HARMLESS_REMEDIES


class SetupApi:
    def __init__(self, *, setup: "Setup", remedies: "Remedies", starts: "ServerStarts") -> None:
        self._setup, self._remedies, self._starts = setup, remedies, starts

    async def export_setup(self) -> dict[str, Any]:
        """The servers and settings as one document, without secrets: what was one in plain text becomes `${secret:NAME}`."""
        return await self._setup.exported()

    async def preview_import(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        """What `import_setup` would do.

        Raises:
            TooltrayError: this is no set-up.
        """
        return await self._setup.preview_import(setup, replace=replace)

    @verb(trusted=always)
    async def import_setup(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        """Takes over an exported set-up, all of it or nothing, and starts what starts with the hub; returns what changed.

        Args:
            setup: what `export_setup` gave, here or elsewhere.
            replace: whether servers of the same names are replaced; they are kept otherwise.

        Raises:
            TooltrayError: this is no set-up, or the settings cannot be written.
        """
        changes = await self._setup.take_over(setup, replace=replace)
        await self._starts.initialize()
        return changes

    async def preview_reset(self) -> list[SetupChange]:
        """What `reset_to_default_servers` would do."""
        return await self._setup.preview_reset()

    @verb(trusted=always)
    async def reset_to_default_servers(self) -> list[SetupChange]:
        """Puts the servers that come with Tooltray back to how they came; a person's own servers stay. Returns what changed.

        Raises:
            TooltrayError: the settings cannot be written.
        """
        changes = await self._setup.reset()
        await self._starts.initialize()
        return changes

    @verb(trusted=_changes_what_runs)
    async def apply_remedy(self, server: str, kind: str, value: str = "") -> str:
        """Carries out a remedy that `diagnose` proposed, and returns what was done, in words.

        Args:
            kind, value: of the Remedy.

        Raises:
            TooltrayError: it is none that Tooltray can carry out, or it did not work.
        """
        return await self._remedies.apply(server, kind, value)
