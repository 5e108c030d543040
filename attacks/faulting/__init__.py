"""The harness of faults: what is disturbed (scenes), what goes wrong (faults), and what has to hold afterwards."""
