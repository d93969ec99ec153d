"""Other files with servers in them: a project's `.mcp.json`, and what other hubs and proxies are configured with."""
