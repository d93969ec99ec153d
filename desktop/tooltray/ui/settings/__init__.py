"""The Settings page: backups, and Tooltray itself."""
