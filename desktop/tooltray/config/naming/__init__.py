"""The names by which AI clients know tools and prompts: those that the settings choose, the free ones, and the owner of each."""
