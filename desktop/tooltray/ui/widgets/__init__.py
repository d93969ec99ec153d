"""The widgets of pages and dialogs. They draw what they are given and emit what the user does. Begin with `button` and `table`."""
