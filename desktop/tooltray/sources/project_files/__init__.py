"""Servers from other files than the settings: which files, their trust, and hot reload."""
