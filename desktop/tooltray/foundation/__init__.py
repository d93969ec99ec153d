"""Holds what every other package uses: errors, phrases, events, tasks, files, the home.

Knows nothing of servers, clients or MCP. Begin with `events`, `tasks` and `home`.
"""
