"""Certificates of a duality gap: `certify` makes the claim that a fit leaves behind, `certificate` checks it."""
