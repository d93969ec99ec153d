"""Servers to find and to add: the registry, well-known servers, bundles, and links."""
