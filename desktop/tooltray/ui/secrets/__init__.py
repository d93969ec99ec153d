"""The Secrets tab of the settings, and the field for a secret wherever one is missing. Values are only written, never read."""
