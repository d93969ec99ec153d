"""The REST interface: what a person can do here, for other programs."""
