"""The widgets that pages and dialogs are made of. They draw what they are given and emit what the user does."""
