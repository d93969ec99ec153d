"""The REST interface: the API of a hub over HTTP, for other programs."""
