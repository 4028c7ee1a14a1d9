"""What a study computes for every case, one file for each family; the registry of all of them."""
