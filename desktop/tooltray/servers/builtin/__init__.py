"""Servers that come with Tooltray and live in its own process. There is one, `hub_server`."""
