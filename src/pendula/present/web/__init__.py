"""The front end: ES modules and style sheets of all pages, and what joins them into one script."""
