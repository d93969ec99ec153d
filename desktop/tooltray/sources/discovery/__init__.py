"""Finds servers to add: the official registry of MCP servers, and a list of well-known ones. Begin with `registry_copy`."""
