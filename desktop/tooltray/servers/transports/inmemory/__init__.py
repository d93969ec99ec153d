"""Servers of the `mcp` SDK that run inside Tooltray's own process, each in a thread with an event loop of its own.

Begin with `sdk_transport`.
"""
