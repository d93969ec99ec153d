"""Who gets in over HTTP: tokens of AI clients and of programs. Begin with `client_tokens` and `api_tokens`."""
