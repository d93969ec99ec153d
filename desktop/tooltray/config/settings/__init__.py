"""`settings.json`: its model, its migrations, and every change to it, through McpConfHelper. `settings_file` writes it."""
