"""Skills, as a list shows them."""

import msgspec


class SkillSnapshot(msgspec.Struct, frozen=True):
    """One skill of a server.

    Attributes:
        uri: by which AI clients know it.
        own_uri: under which its server has it.
        file_count, size_bytes: of its files; 0 where unknown.
        is_dynamic: its content is generated when it is read, so it has no fixed digest.
        is_held: it has changed, and is blocked until the user has reviewed the change.
        is_shared_name: another server has a skill of this name, too.
    """

    uri: str
    server: str
    own_uri: str
    name: str
    description: str
    file_count: int = 0
    size_bytes: int = 0
    is_dynamic: bool = False
    is_enabled: bool = True
    is_held: bool = False
    is_shared_name: bool = False
