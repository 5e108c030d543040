"""The same problem in a better form, and the way back: centred, with equal rows merged, in the range of floats."""
