"""The plane with the fewest mistakes, searched for and bounded from below."""
