"""Files and tables in: one reader a format."""
