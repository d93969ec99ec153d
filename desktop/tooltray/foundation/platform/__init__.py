"""Code for one operating system only."""
