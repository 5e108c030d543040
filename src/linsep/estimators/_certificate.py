"""The certificate of a fitted model: what was proven by the fit, joined with the planes as they are now."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..certificates.certificate import Certificate, Certificates
from ..certificates.checking import positive_classes
from ._specification import Specification

__all__ = ["Certified"]


class Certified(Specification):
    """A model of which something may be proven."""

    @property
    def certificate_(self) -> Certificate | Certificates:
        """What is proven of the plane as it is now, and how to check it; with more than two classes, one for each."""
        check_is_fitted(self, "coef_")
        if not hasattr(self, "_claims"):
            raise AttributeError(
                f"this {type(self).__name__} has no certificate: it takes a fit on all data at once (partial_fit sees "
                "one batch) and a convex loss that defines its conjugate"
            )
        statement, classes = self._statement(), tuple(np.asarray(self.classes_).tolist())
        planes, intercepts, positive = list(self._planes()), list(np.ravel(self.intercept_)), positive_classes(classes)
        if not len(planes) == len(intercepts) == len(self._claims) == len(positive):  # tampered with: none is certified
            count = len(self._claims)
            planes, intercepts, positive = [np.empty(0)] * count, [np.float64(0.0)] * count, [-1] * count
        each, tol = zip(self._claims, planes, intercepts, positive, strict=True), getattr(self, "tol", None)
        certificates = [Certificate(claim, w, float(b), statement, classes, k, tol) for claim, w, b, k in each]
        return certificates[0] if len(certificates) == 1 else Certificates(certificates)
