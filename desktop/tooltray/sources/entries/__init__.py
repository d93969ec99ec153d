"""Entries of servers: pasted, proposed by programs, exported, imported, removed with their secrets.

Begin with `server_entries`, which stores them and starts new ones.
"""
