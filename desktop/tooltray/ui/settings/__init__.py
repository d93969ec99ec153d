"""The tabs General, Backup and About of the settings. `shell.settings_page` lists all tabs; others are `secrets`, `network`, `files`."""
