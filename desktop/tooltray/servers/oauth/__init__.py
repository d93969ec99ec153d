"""Signing in to servers elsewhere: OAuth as the MCP specification wants it (2025-03-26 to 2026-07-28), without a word of MCP itself.

Above it: presenter/sign_ins, which keeps what is made here and knows when it is needed. `authorization_client` is the way in;
`callback_listener` is where the browser comes back to. aiohttp is imported by `aiohttp_web` alone, which `web_requests.make_web` imports.
"""
