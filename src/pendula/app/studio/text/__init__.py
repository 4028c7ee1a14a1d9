"""Model files as text and as data: two views, the places of problems, edits that keep comments; scripts."""
