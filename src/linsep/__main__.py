"""``python -m linsep``: the command line of this Python, wherever the command itself is not on the path."""

from .cli import run

if __name__ == "__main__":
    run()
