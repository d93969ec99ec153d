"""JSON-RPC over byte streams: framing, envelope, dispatcher, deadlines, eras and headers. Knows nothing of servers or sessions."""
