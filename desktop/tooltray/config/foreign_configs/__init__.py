"""Readers of other programs' configuration files: `.mcp.json`, mcp-proxy, and files of AI clients.

Begin with `documents`, which reads the file of an AI client; `reading` reads the files of projects and of mcp-proxy. The servers found for
an import are in `sources.clients.found_entries`. Changes that keep comments are written by `json_edit`, `toml_edit` and `yaml_edit` of
`foundation.files`.
"""
