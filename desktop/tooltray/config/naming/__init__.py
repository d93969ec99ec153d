"""Under which names AI clients know tools and prompts: what the settings choose, which names are free, and whose each is."""
