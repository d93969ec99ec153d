"""`settings.json`: its model (`settings`), the migration of older files (`document`), and every change to it, through McpConfHelper
(`mcp_conf_helper`). `settings_file` writes it.
"""
