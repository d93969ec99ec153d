"""ServerManager, McpClient, and the life of each server's instances.

Begin with `server_manager`, all servers; `instance` has one process or connection: its start, its end, and whether it starts again.
"""
