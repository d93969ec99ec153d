"""The callers: the state of each AI client's session, and what may be asked of a client while a call runs."""
