"""Keeps notes in memory, and can be asked for them."""

from mcp.server import MCPServer


def make(args: list[str]) -> MCPServer:
    server, notes = MCPServer("notes"), list(args)

    @server.tool()
    async def keep(text: str) -> int:
        """Keeps a note; returns how many there are."""
        notes.append(text)
        return len(notes)

    @server.resource("notes://all")
    def all_notes() -> str:
        return "\n".join(notes)

    return server
