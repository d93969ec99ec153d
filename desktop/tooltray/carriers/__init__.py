"""The carriers of requests to the hub: MCP over stdio and HTTP, REST, the control channel. Begin with `mcp.client_session`."""
