"""Skills, as a list shows them."""

import msgspec


class SkillSnapshot(msgspec.Struct, frozen=True):
    """One skill of a server.

    Attributes:
        uri: by which AI clients know it.
        own_uri: under which its server has it.
        file_count, size_bytes: of its files; 0 where nobody knows.
        is_dynamic: its content is made when it is read, and fits no digest.
        is_held: it is another one than it was, and is not offered until a person has looked at the change.
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
