"""The names by which AI clients know tools and prompts, and the owner of each. Begin with `published_names`, which makes and keeps them."""
