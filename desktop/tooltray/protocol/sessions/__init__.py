"""The state of each AI client's session, and requests to a client while a call runs. Begin with `exchange` and `session_state`."""
