"""What the launcher puts around one process, as plain values: paths, network, limits. `tooltray_confine` applies it."""

from typing import Literal

import msgspec

Network = Literal["all", "none", "proxy"]


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one process.

    Attributes:
        read: absolute paths that may be read and run, each with all below it; missing ones are left out.
        write: absolute paths that may be changed, too.
        network: "all"; "none": no socket but a pair of one's own; "proxy": TCP to `proxy_port` of this computer, and nothing else.
        proxy_port: of the hub's proxy for this server; 0 unless `network` is "proxy".
        private_tmp: a folder that replaces /tmp where bubblewrap is available; it may be changed in any case. It must lie in none
            of `write`, where the server could replace it. Empty: /tmp itself.
        file_bytes: the size of the largest file that it may write; 0: any.
        processes: how many processes and threads its user may have meanwhile; 0: any.
    """

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    network: Network = "all"
    proxy_port: int = 0
    private_tmp: str = ""
    file_bytes: int = 0
    processes: int = 0
