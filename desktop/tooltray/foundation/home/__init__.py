"""The folder that holds everything Tooltray keeps: its paths, its lock, its socket's place, and who the user is to the system."""
