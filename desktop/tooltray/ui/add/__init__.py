"""Servers to find and to add: what a user pastes, the registry, well-known ones, and bundles.

Begin with `add_server`; `review_sheet` is the base of the others.
"""
