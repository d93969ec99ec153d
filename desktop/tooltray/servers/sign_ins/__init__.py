"""Signing in to remote servers: OAuth flows, tokens, renewal."""
