"""The base of all pages: the class of a page, what the shell lends to it, and how an action is carried out."""
