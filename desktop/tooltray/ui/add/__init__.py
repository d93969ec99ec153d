"""Servers to find and to add: what a user pastes, the registry, well-known ones, bundles, and links."""
