"""The Settings page: npm registries, HTTP access with its tokens, and backups."""
