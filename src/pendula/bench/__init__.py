"""Published benchmarks that `pendula bench` runs."""
