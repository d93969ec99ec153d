"""Servers' questions to the user."""
