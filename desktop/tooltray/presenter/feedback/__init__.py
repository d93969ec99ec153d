"""Reports of models to the person, and the answers."""
