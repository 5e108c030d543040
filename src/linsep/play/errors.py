"""What a page is told when it asks for something that cannot be."""

from __future__ import annotations


class RefusedError(ValueError):
    """A request that cannot be answered, and why, in a sentence for whoever sits before the page."""
