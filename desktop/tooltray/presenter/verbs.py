"""The verbs of McpPresenter that others may call by name: the control channel and the Qt presenter layer offer exactly these.

The lowest module of presenter; a contract test holds it and McpPresenter together.
"""

VERBS: tuple[str, ...] = (
    "get_snapshot",
    "get_mcp_servers",
    "add_mcp_server",
    "update_mcp_server",
    "remove_mcp_server",
    "start_server",
    "stop_server",
    "restart_server",
    "get_server_log",
    "get_mcp_default_servers",
    "add_mcp_default_server",
    "remove_mcp_default_server",
    "toggle_mcp_default_server",
    "get_mcp_enabled",
    "set_mcp_enabled",
    "get_all_tool_definitions",
    "get_tools",
    "set_tool_enabled",
    "call_tool",
    "get_secret_names",
    "set_secret",
    "remove_secret",
    "check_secrets",
    "unlock_secrets",
    "set_secret_backend",
    "diagnose",
    "reset_tool_names",
)
