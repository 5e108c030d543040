"""Models in files: one JSON document, written whole or not at all, read bit for bit and without running anything.

`document` says what is in it.
"""

from .document import SECTIONS, ModelFileError
from .reading import ModelFile, load, read
from .writing import save

__all__ = ["SECTIONS", "ModelFile", "ModelFileError", "load", "read", "save"]
