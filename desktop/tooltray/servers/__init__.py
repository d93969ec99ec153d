"""Running MCP servers: how they start, how they are confined, how messages reach them.

Begin with `upstream.server_manager`.
"""
