"""The Servers page: cards and table, filters and order, the sheets of a server, and the actions on one or many.

Begin with `servers_page`.
"""
