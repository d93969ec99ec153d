"""Towards AI clients and our own front ends: the socket, sessions, the control channel."""
