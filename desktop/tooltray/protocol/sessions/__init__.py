"""The state of each AI client's session, and requests to a client while a call runs."""
