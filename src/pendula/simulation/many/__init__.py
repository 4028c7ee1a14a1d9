"""Parts of ensembles: chunks of runs, where they are computed, and how results are collected."""
