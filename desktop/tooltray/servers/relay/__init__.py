"""The way of a request to one server and of its reply back: sent again if needed, with the questions that a server asks meanwhile."""
