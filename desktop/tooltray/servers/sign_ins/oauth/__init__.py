"""OAuth 2.1 as the MCP specification requires it (2025-03-26 to 2026-07-28), over a small web interface of its own."""
