"""What the engine tells of itself at one moment: frozen structs, one per thing that a person or a program may look at.

With errors the lowest layer. Events carry snapshots, the presenter's verbs return them, views draw them. A module is named for what its
snapshots are about.
"""
