"""What the user has set: settings, secrets, names, and configuration files of other programs.

Begin with `settings.mcp_conf_helper`.
"""
