"""Servers' questions to the person."""
