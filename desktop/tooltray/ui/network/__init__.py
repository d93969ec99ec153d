"""The Network tab of the settings: HTTP access with its tokens, programs, and the registries that packages and servers come from."""
