"""What the hub knows about tools: their definitions, the names AI clients see, and what may be called unasked."""
