"""MCP towards AI clients: sessions over stdio, the local socket, streamable HTTP and SSE. Begin with `sessions` and `client_session`."""
