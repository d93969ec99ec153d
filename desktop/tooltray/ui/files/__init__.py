"""The Files tab of the settings: files with servers in them, their entries that wait for the user's consent, and its sheets."""
