"""Servers to find and to add: from the registry, well-known ones, bundles, and links."""
