"""What the commands do, without the command line: files in, models and tables out."""
