"""Why no plane makes fewer mistakes: the record of a lower bound, and its check."""
