"""The Servers page: cards and table, what narrows and orders them, the sheets of a server, and what can be done with one or many."""
