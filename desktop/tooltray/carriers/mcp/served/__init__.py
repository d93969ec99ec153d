"""Endpoints that the configurations of other proxies define, with their own addresses, paths and tokens."""
