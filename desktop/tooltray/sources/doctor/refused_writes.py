"""What to do about files that a confined server was kept from changing: another place for them, or a permission.

Which variable moves a server's file stands in `known-servers.json`. The place that is proposed is the server's own folder, which it may
always write, so nothing is widened.
"""

from pathlib import Path

from tooltray.catalogue.known_servers import KnownServers
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import joined
from tooltray.foundation.tasks import finish_in_thread
from tooltray.servers.confinement.guarded_folders import GuardedFolders
from tooltray.servers.confinement.refusals import Refusals
from tooltray.servers.confinement.state_folders import state_folder
from tooltray.sources.doctor.diagnosis import Remedy


class RefusedWrites:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, refusals: Refusals, known: KnownServers, home: Home, user_folder: Path) -> None:
        self._config, self._refusals, self._known, self._home = config, refusals, known, home
        self._guarded = GuardedFolders(str(user_folder), str(home.root))

    async def remedies(self, server: str) -> tuple[Remedy, ...]:
        """Returns one remedy for all that a known server was kept from changing, else one for each path."""
        paths = [each.name for each in self._refusals.of(server) if each.kind == "path" and each.is_write]
        if not paths:
            return ()
        if line := self.line(server):
            return (Remedy("give_variables", Phrase("Keep its file where it may write"), line),)
        return tuple([await finish_in_thread(self._remedy, server, path) for path in paths])

    def line(self, server: str) -> str:
        """Returns the command that has a server of the settings keep its file in its own folder; empty if no variable of it is known, or
        its entry has that."""
        entry = self._config.settings.mcp_servers.get(server)
        own = state_folder(self._home.confined, server).work
        files = self._known.files(server, entry) if entry else {}
        options = [word for name, file in files.items() for word in ("--env", f"{name}={own / file}")]
        return joined(["tooltray", "servers", "set", server, *options]) if options else ""

    def _remedy(self, server: str, path: str) -> Remedy:
        """Blocks."""
        if self._guarded.why_not(path):
            return Remedy(
                "advice", Phrase("It was kept from changing {path}. {instead}", path=path, instead=self._guarded.instead_of(path))
            )
        return Remedy(
            "advice", Phrase("Let it change {path}", path=path), joined(["tooltray", "servers", "confine", server, "--allow", path])
        )
