"""What files and results need: room in memory and on disk, pipes and devices, archives that are filled in place."""
