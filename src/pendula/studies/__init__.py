"""Studies: many cases of a mechanism, resumable, on one machine or many."""
