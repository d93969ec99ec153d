"""This installation of Tooltray, for whoever shows it."""

import msgspec


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
