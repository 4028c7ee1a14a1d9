"""From a system and a state to a trajectory."""
