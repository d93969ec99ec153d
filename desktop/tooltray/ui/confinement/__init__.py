"""A server's confinement: a section for each side of it, in a tab of the opened server."""
