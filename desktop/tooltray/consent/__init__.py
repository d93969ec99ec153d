"""How a person confirms what a command or a program wants to allow: in the window, by a passphrase, at a terminal."""
