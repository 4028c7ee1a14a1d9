"""Charts of stability over two parameters: equilibria, and periodically driven mechanisms (Ince-Strutt)."""
