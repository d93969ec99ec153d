"""The verbs of the engine's presenter for the GUI thread, by subject: each hands on to the one of its name by way of the link."""
