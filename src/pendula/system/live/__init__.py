"""A mechanism as JavaScript: what a page needs to simulate it."""
