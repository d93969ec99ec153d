"""Tasks of servers: to which client each belongs, under which id the client knows it, and `tasks/*` to the server and back."""
