"""Tasks of servers: whose each one is, under which id its client knows it, and the way of `tasks/*` to its server and back."""
