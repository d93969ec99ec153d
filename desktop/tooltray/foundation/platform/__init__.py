"""Code for one operating system only. Begin with `guardian`."""
