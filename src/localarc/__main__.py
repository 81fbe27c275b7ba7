"""`python -m localarc` is the command `localarc`."""

from localarc.cli import main

if __name__ == "__main__":
    main()
