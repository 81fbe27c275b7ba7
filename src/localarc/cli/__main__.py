"""`python -m localarc.cli` is the command `localarc`."""

from localarc.cli import main

main()
