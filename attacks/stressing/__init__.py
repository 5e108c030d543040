"""The stress set's rooms: nasty problems, their optima in many digits, who is asked to solve them, and the judge."""
