"""The state of the engine at one moment: frozen structs, one for each thing that the user or a program may look at.

Events carry snapshots, the API's verbs return them, views draw them. A module is named for the subject of its snapshots.

Begin with `servers`.
"""
