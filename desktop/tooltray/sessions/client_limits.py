"""What AI clients bear: a stand-in until the data are there."""

import msgspec


class ClientLimits(msgspec.Struct, frozen=True):
    """
    Attributes:
        tool_name: characters of a tool's name, without the prefix that the client puts before it.
    """

    tool_name: int = 46


def client_limits(client: str, transport: str = "") -> ClientLimits:
    return {"claude-code": ClientLimits(50), "roomy": ClientLimits(128), "narrow": ClientLimits(40)}.get(client, ClientLimits())
