"""JSON-RPC over byte streams: framing, envelopes, dispatcher, deadlines, eras and headers, without servers or sessions."""
