"""The Servers page: cards, table and details, the sheets of a server, and what can be done with one."""
