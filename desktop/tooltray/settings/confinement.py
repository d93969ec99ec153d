"""What one entry of `mcpServers` says about its confinement: which files and which hosts its process may reach.

Above it: server_config, and the room confinement, which makes a policy of it. Below it: json_model.
"""

from typing import Literal

from pydantic import StrictStr

from tooltray.settings.json_model import JsonModel

Files = Literal["open", "own", "read"]
Net = Literal["open", "none", "hosts"]


class Confinement(JsonModel):
    """`confinement` of an entry. Without it a server is open: it may do whatever its person may do.

    Attributes:
        files: "open": all; "own": its package, its caches, the folders named here, the project; "read": the same, nothing changed but its
            own caches.
        network: "open": all; "none"; "hosts": those in `hosts` alone, through the hub's proxy.
        hosts: names, as "api.example.org", or "*.example.org" for all below it; ports other than 443 and 80 as "example.org:8443".
        read: folders and files that it may read besides; absolute, or beginning with `~/`.
        write: those that it may change, too.
    """

    files: Files = "open"
    network: Net = "open"
    hosts: tuple[StrictStr, ...] = ()
    read: tuple[StrictStr, ...] = ()
    write: tuple[StrictStr, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether nothing is put around the process."""
        return self.files == "open" and self.network == "open"


OPEN = Confinement()
