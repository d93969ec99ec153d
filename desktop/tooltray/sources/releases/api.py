"""The API about newer releases of Tooltray."""

from tooltray.foundation.snapshots.hub import ReleaseNews
from tooltray.foundation.verbs import verb
from tooltray.sources.releases.releases import Releases


class ReleasesApi:
    def __init__(self, *, releases: Releases) -> None:
        self._releases = releases

    @verb("manage")
    async def check_for_release(self) -> ReleaseNews:
        """Reads the list of releases now, also if the settings do not have it read daily. Why it cannot be read is in `problem`."""
        return await self._releases.check()
