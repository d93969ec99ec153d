"""The sources of servers: the settings, files of projects, other clients, bundles, the registry.

Begin with `entries.server_entries`.
"""
