"""The report page: everything about one mechanism in one file."""
