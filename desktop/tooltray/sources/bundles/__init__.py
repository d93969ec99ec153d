"""Bundles: servers packed as `.mcpb` or `.dxt` files. Reads, installs, updates, removes and packs them.

Begin with `archive`, then `manifest`.
"""
