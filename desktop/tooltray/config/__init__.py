"""What a person decided, on disk: where the home is, the settings, the secrets, and how `${...}` in them is filled in.

Above it: managers, presenter, command line. Below it: events and errors. Knows nothing of running servers, tools or AI clients.
"""
