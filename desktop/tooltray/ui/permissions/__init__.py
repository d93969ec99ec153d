"""The Permissions page: what runs without asking, what was allowed for longer, what is trusted, and what waits for an answer."""
