"""The demo, as in the lecture: handwritten 3s against 7s, every model side by side. It prints nothing."""

from ..selection.thresholds import best_threshold
from .computation import Curve, Demo, Fit, Mistake, run, samples, to_record
from .images import NEGATIVE, POSITIVE, Images, draw, embedded_digits, mnist
from .page import film, page
from .text import picture, pictures, render, table

__all__ = [
    "NEGATIVE",
    "POSITIVE",
    "Curve",
    "Demo",
    "Fit",
    "Images",
    "Mistake",
    "best_threshold",
    "draw",
    "embedded_digits",
    "film",
    "mnist",
    "page",
    "picture",
    "pictures",
    "render",
    "run",
    "samples",
    "table",
    "to_record",
]
