"""Other programs' configuration files: `.mcp.json`, mcp-hub, mcp-proxy, and AI clients' own, read into our words."""
