"""The studio: a local server and the page that it serves, to build and study mechanisms in the browser."""
