"""The Secrets tab of the settings, and the field that asks for a secret wherever one is missing. Values go in and never out."""
