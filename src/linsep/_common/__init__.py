"""What every room needs and none owns: words of messages, types, checks of arrays and labels, files written whole."""
