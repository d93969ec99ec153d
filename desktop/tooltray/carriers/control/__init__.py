"""The control channel: the API of a hub over its local socket, for commands and a second start.

Begin with `control_session`; `control_client` is the other end.
"""
