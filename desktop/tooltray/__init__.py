"""Tooltray: one hub for a person's MCP servers. Qt-free but for `ui` and `app`."""

__version__ = "0.1.0"
