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
        """Returns the servers and settings as one document, without secrets: a secret in plain text becomes `${secret:NAME}`."""
        return await self._setup.exported()

    async def preview_import(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        """Returns the changes that `import_setup` would make.

        Raises:
            TooltrayError: this is not a set-up.
        """
        return await self._setup.preview_import(setup, replace=replace)

    @verb(trusted=always)
    async def import_setup(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        """Imports an exported set-up, completely or not at all, and starts the servers that start with Tooltray; returns the changes.

        Args:
            setup: the result of `export_setup`, here or elsewhere.
            replace: whether servers of the same names are replaced; they are kept otherwise.

        Raises:
            TooltrayError: this is not a set-up, or the settings cannot be written.
        """
        changes = await self._setup.take_over(setup, replace=replace)
        await self._starts.start_all()
        return changes

    async def preview_reset(self) -> list[SetupChange]:
        """Returns the changes that `reset_to_default_servers` would make."""
        return await self._setup.preview_reset()

    @verb(trusted=always)
    async def reset_to_default_servers(self) -> list[SetupChange]:
        """Resets the starter servers that come with Tooltray; the user's own servers stay. Returns the changes.

        Raises:
            TooltrayError: the settings cannot be written.
        """
        changes = await self._setup.reset()
        await self._starts.start_all()
        return changes

    @verb(trusted=_changes_what_runs)
    async def apply_remedy(self, server: str, kind: str, value: str = "") -> str:
        """Applies a remedy that `diagnose` proposed, and returns what was done, in words.

        Args:
            kind, value: of the Remedy.

        Raises:
            TooltrayError: Tooltray cannot apply this remedy, or it did not work.
        """
        return await self._remedies.apply(server, kind, value)
