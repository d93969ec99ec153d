"""What every page of the window is built on: the base of a page, what the shell lends to it, and how an action is carried out."""
