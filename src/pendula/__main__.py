"""``python -m pendula`` is the same as ``pendula``."""

from pendula.app.main import main

main()
