"""What pages, panes and sheets are built on: their base classes, what the window lends to them, and how an action is carried out.

Begin with `view` and `page`.
"""
