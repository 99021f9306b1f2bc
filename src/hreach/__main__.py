"""`python -m hreach` is the command `hreach`."""

from hreach.cli import main

if __name__ == "__main__":
    main()
