"""What `linsep fit` is asked for of files that are not taken into memory: `--max-memory`, `--dask` and `--spark`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.readers import Hints
from ..data.sources import DataError
from .choosing import ACCURACY, Asked
from .deciding import NOTHING, Wanted
from .training import estimator
from .weighing import Weighing

#: Told what is going on, how much of it is done, and how much there is (0 where nobody knows).
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Request:
    """What shall be fitted, how, and in how much room, 0 on a cluster; the names are those of `linsep fit`."""

    data: str
    target: str | None
    max_memory: int = 0
    hints: Hints = field(default_factory=Hints)
    kinds: Mapping[str, str] = field(default_factory=dict)
    degree: int = 1
    loss: str = "logistic"
    C: float | None = 1.0  # None: by cross-validation
    l1_ratio: float = 0.0
    tol: float = 1e-4
    class_weight: tuple[str, ...] = ()
    weighing: Weighing = field(default_factory=Weighing)
    reference: tuple[str, ...] = ()
    scaled: bool = True  # numbers; else they are taken as they are in the file
    intercept: bool = True
    seed: int = 0
    test_share: float | None = None
    choosing: Asked = ACCURACY
    wanted: Wanted = NOTHING
    output: Path | None = None
    scratch: Path | None = None
    resume: bool = True
    checkpoint: Path | None = None

    def estimator(self, instead: str) -> Any:
        """Return the model to be fitted; `instead` says how a loss is fitted that needs all rows at once."""
        if self.loss == "perceptron":
            raise DataError(f"--loss perceptron takes its data into memory: {instead}")
        limits: dict[str, Any] = dict(l1_ratio=self.l1_ratio, tol=self.tol, seed=self.seed)
        return estimator(self.loss, C=1.0 if self.C is None else self.C, fit_intercept=self.intercept, **limits)

    def settings(self) -> dict[str, Any]:
        """Return what the answer depends on, in terms of JSON."""
        names = ["target", "degree", "loss", "C", "l1_ratio", "tol", "class_weight", "reference", "seed", "test_share"]
        names += ["scaled", "intercept"]
        said = {"kinds": dict(self.kinds), "reading": vars(self.hints), "weights": self.weighing.columns}
        said |= {} if self.C is not None else {"choosing": vars(self.choosing)}
        asked = self.wanted
        if (asked.threshold, asked.calibrate, asked.base_rates) != (None, None, ()):
            said["deciding"] = vars(asked)
        return said | {name: getattr(self, name) for name in names}
