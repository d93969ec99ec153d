"""JSON-RPC over byte streams: framing, envelopes, dispatcher, deadlines, eras and headers, without servers.

Begin with `dispatcher`, one connection, and `sessions.exchange`, one request.
"""
