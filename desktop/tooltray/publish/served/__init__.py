"""The HTTP endpoint that a config of another proxy asks for, with its own address, paths and tokens."""
