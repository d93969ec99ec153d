"""What can be typed behind each command: a module for each, called as the one that carries it out, and what they are made of."""
