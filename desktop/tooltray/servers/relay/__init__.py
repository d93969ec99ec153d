"""The way of a request to one server and of its reply back: sent again where need be, and with what a server asks meanwhile."""
