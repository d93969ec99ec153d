"""Finds newer releases of Tooltray in a list that the project publishes, if the user allows it. Begin with `releases`."""
