"""Model files as text and as data: two views of one model, the places of problems, edits that keep comments."""
