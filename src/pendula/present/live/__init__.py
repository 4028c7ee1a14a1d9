"""The live page: a mechanism that a browser simulates, to touch, change and watch."""
