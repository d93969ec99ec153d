"""Servers from other files than the settings: which files, their trust, and hot reload.

Begin with `followed_files`, which watches them (and settings.json), and `server_files`.
"""
