"""The papers that Pendula began with, recomputed: every number, figure and case, and what is wrong in them."""
