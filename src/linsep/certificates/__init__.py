"""What a fit claims of its model, and how that is checked from the data alone. No solver is needed for it."""
