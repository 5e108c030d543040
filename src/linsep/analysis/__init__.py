"""What data and models are like: losses side by side, how good predictions are, what to watch out for."""
