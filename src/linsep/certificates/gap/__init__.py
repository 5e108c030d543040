"""Certificates of a duality gap: `claim` is what a fit leaves behind, `certify` makes it, `certificate` checks it."""
