"""Servers from other files than the settings: which files, their trust, and hot reload.

Begin with `file_watch`, which watches them (and settings.json), and `server_files`.
"""
