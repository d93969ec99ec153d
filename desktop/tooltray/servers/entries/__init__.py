"""Entries of servers as people paste them and carry them from one machine to another."""
