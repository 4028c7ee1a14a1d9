"""Worker processes that survive what happens to them, and the signals that end a process. Knows no mechanics."""
