"""What goes and what stays when a server is removed."""

import msgspec

from tooltray.errors import Problem


class SharedSecret(msgspec.Struct, frozen=True):
    """A secret that stays when a server that uses it is removed."""

    name: str
    users: tuple[str, ...]  # servers by their names, else files by their paths


class ServerRemoval(msgspec.Struct, frozen=True):
    """What goes with a server when it is removed, or has gone, and what stays. Names alone, no values."""

    server: str
    secrets: tuple[str, ...] = ()  # that nothing else uses
    sign_in: str = ""  # under which name what a sign-in to it left is among the secrets; empty: nobody is signed in
    shared: tuple[SharedSecret, ...] = ()
    problem: Problem | None = None  # why the secrets could not be looked into, or not be removed; what is named above is still there
