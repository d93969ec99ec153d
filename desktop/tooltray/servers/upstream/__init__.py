"""ServerManager, McpClient, and the life of each server's instances."""
