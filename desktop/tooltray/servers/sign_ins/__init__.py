"""Signing in to remote servers: OAuth flows, tokens, renewal.

Begin with `sign_ins`; `server_access` decides whether a 401 leads to a sign-in and when a token is renewed, and `authorization_client` gets
and renews it.
"""
