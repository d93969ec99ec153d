"""Endpoints that configurations of other proxies ask for, with their own addresses, paths and tokens."""
