"""Who gets in over HTTP: tokens of AI clients and of programs."""
