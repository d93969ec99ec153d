"""The way of a request to one server and of its reply back, with the questions that a server asks meanwhile."""
