"""The Settings page: general settings, secrets, network access, backups, and what Tooltray is. Begin with `settings_page`."""
