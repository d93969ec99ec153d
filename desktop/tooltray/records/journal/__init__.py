"""The journal: what happened, kept on disk, and what can be asked of it."""
