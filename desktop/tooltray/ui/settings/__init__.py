"""The Settings page: general settings, secrets, network access, files with servers, backups, and what Tooltray is."""
