"""From symbolic expressions to machine code: lowering to straight-line programs, LLVM text."""
