"""Readers of other programs' configuration files: `.mcp.json`, mcp-hub, mcp-proxy, and those of AI clients."""
