"""The certificate of a fitted model: what its fit has proven, joined with the planes as they are now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..certificates.kinds.gap import Gap
from ..certificates.proof import Proof, ProofAttribute
from ._specification import Specification


class Certified(Specification):
    """A model of which something may be proven."""

    #: What is proven of the fit, one of a kind.
    _proofs: Sequence[Proof] = ()

    def _kinds_of_proof(self) -> tuple[str, ...]:
        """Return what is proven of a fit with these parameters: all of these kinds of proof, or nothing."""
        return ("gap",)

    def _gap(self) -> Gap | None:
        """Return the proof of a gap, if there is one."""
        return next((proof for proof in self._proofs if isinstance(proof, Gap)), None)

    def _certain_gap(self) -> float:
        """Return what was compared with `tol`: the relative gap, with all rounding counted against it."""
        proof = self._gap()
        return self.dual_gap_ if proof is None else float(proof.certificate(self).certain_gap)

    @property
    def certificate_(self) -> Any:
        """What is proven of the plane as it is now, and how to check it; with more than two classes, one for each."""
        check_is_fitted(self, "coef_")
        found = (proof.certificate(self) for proof in self._proofs)
        certificate = next((one for one in found if one is not None), None)
        if certificate is None:
            raise AttributeError(f"this {type(self).__name__} has no certificate: {self._why_no_certificate()}")
        return certificate

    def _why_no_certificate(self) -> str:
        """Say what a certificate takes, and where else something is proven."""
        attributes = {name: one for kind in type(self).__mro__ for name, one in vars(kind).items()}
        others = [name for name, one in attributes.items() if isinstance(one, ProofAttribute) and hasattr(self, name)]
        where = f"; what is proven stands in {' and '.join(others)}" if others else ""
        takes = "it takes a fit on all data at once (partial_fit sees one batch) and a convex loss that defines its"
        return f"{takes} conjugate{where}"
