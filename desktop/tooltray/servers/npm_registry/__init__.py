"""npm registries: which there are, how they answer, and what of that servers get."""
