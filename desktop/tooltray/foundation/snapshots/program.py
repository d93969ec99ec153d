"""This installation of Tooltray, and its use of memory and processor."""

import msgspec


class ProgramLoad(msgspec.Struct, frozen=True):
    """The memory and processor time that Tooltray uses now.

    Attributes:
        memory_bytes: of the hub, including its window if it has one; without servers.
        cpu_share: of one processor, since the last request (1.0: a whole processor).
        server_memory_bytes: of all local servers, including their child processes; memory that they share counts for each.
        running_servers: the number of servers that are local processes.
    """

    memory_bytes: int
    cpu_share: float
    server_memory_bytes: int
    running_servers: int


class ProgramSnapshot(msgspec.Struct, frozen=True):
    """This installation of Tooltray.

    Attributes:
        kind: a key of `installs.installation.KINDS`; `kind_name` is its display name.
        update: how a newer version is installed, in words.
        starts_at_login: as the system reports it, also after changes made elsewhere.
        home: the folder of all its files, including settings and logs.
    """

    version: str
    kind: str
    kind_name: str
    update: str
    starts_at_login: bool
    home: str = ""
    settings: str = ""
    logs: str = ""
