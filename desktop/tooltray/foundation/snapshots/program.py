"""This installation of Tooltray, for whoever shows it."""

import msgspec


class ProgramLoad(msgspec.Struct, frozen=True):
    """What Tooltray needs of the computer now.

    Attributes:
        memory_bytes: of the hub, with its window where it has one; without servers.
        cpu_share: of one processor, since it was last asked for (1.0: a whole one).
        server_memory_bytes: of all servers here, with what they have started; memory that they share counts for each.
        running_servers: as many of them are processes of this computer.
    """

    memory_bytes: int
    cpu_share: float
    server_memory_bytes: int
    running_servers: int


class ProgramSnapshot(msgspec.Struct, frozen=True):
    """
    Attributes:
        kind: a key of `installs.installation.KINDS`; `kind_name` is it in words.
        update: how a newer version is installed, in words.
        starts_at_login: what the system says, whoever has changed it.
        home: the folder of all that it keeps, settings and logs among it.
    """

    version: str
    kind: str
    kind_name: str
    update: str
    starts_at_login: bool
    home: str = ""
    settings: str = ""
    logs: str = ""
