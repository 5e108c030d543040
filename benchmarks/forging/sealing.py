"""Files made consistent again after an edit: every digest recomputed, so that only mathematics can tell."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from .packing import coefficients

__all__ = ["resealed", "written"]


def resealed(document: dict[str, Any]) -> None:
    """Recompute the digests of planes in all proofs, where the planes are still numbers."""
    try:
        W = coefficients(document).astype("<f8")
        b = np.array(document["intercept"], dtype="<f8")
        proofs = document["certificate"]
        if W.ndim != 2 or b.shape != (len(W),) or not isinstance(proofs, dict):
            return
    except (KeyError, TypeError, ValueError, OverflowError):
        return
    for kind in ("gap", "seals"):
        claims = proofs.get(kind)
        for k, claim in enumerate(claims if isinstance(claims, list) else []):
            if isinstance(claim, dict) and "plane" in claim and k < len(W):
                claim["plane"] = _digest(W[k], b[k])
    for kind in ("softmax", "crammer_singer"):
        claim = proofs.get(kind)
        if isinstance(claim, dict) and "planes" in claim:
            claim["planes"] = _digest(W, b)


def _digest(W: np.ndarray, b: np.ndarray) -> str:
    """Return the digest of planes, each followed by its intercept."""
    numbers = np.column_stack([np.atleast_2d(W), np.atleast_1d(b)])
    return hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()[:32]


def written(document: dict[str, Any]) -> bytes:
    """Return the document as a file with a digest that fits; a number that JSON does not know is written as 1e999."""
    lines = {name: _line(value) for name, value in document.items() if name != "digest"}
    content = "\n".join(f"{name} {line}" for name, line in sorted(lines.items()))
    if isinstance(document.get("digest"), str):
        found = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        lines["digest"] = _line(f"sha256:{found}")
    elif "digest" in document:
        lines["digest"] = _line(document["digest"])
    text = "{\n" + ",\n".join(f'"{name}": {line}' for name, line in lines.items()) + "\n}\n"
    return text.encode("utf-8", "surrogatepass")


def _line(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("-Infinity", "-1e999").replace("Infinity", "1e999") if "Infinity" in text else text
