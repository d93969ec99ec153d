"""What only one operating system has."""
