"""Basics that every other package uses: errors, phrases, events, tasks, files, the home.

They know nothing of servers, clients or MCP. Begin with `events`, `tasks` and `home`.
"""
