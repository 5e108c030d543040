"""Whether a plane separates two classes, and the proof either way."""
