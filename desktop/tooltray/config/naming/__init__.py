"""The names by which AI clients know tools and prompts, and the owner of each. `name_space` forms them, `published_names` keeps them."""
