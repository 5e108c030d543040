"""What is minimised: where the examples are, how scores become losses, and the objective that joins them."""
