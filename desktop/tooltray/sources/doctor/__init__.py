"""Why a server does not run, and what can be done about it."""
