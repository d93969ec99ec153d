"""Servers from other files than the settings: which files, whose yes they need, and what a change of one changes."""
