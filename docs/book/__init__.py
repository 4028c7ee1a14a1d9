"""Extensions of Sphinx with which the book is made."""
