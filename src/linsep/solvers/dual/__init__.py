"""Methods on the dual problem, one variable an example."""
