"""Signing in to servers elsewhere, and the tokens of it."""
