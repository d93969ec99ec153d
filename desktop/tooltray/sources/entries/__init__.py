"""Entries of servers: pasted, proposed by programs, exported, imported, removed with their secrets."""
