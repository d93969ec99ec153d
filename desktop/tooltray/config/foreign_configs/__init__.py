"""Readers of other programs' configuration files: `.mcp.json`, mcp-proxy, and AI clients."""
