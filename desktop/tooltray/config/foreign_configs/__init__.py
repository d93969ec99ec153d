"""Readers of other programs' configuration files: `.mcp.json`, mcp-proxy, and files of AI clients."""
