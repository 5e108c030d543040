"""Pictures of linear classifiers with matplotlib (``pip install 'linsep[plot]'``), scikit-learn's Display convention.

A classmethod (``from_estimator``, ``from_predictions``, …) computes the numbers and draws them; ``plot(ax=…)`` draws
them again elsewhere. The colours follow the paper: under a dark matplotlib style they are the dark theme's.
"""

from ._boundary import BoundaryDisplay
from ._convergence import ConvergenceDisplay
from ._losses import LossDisplay
from ._margins import MarginHistogramDisplay
from ._mistakes import MistakesDisplay
from ._novikoff import NovikoffDisplay
from ._outliers import OutlierDisplay
from ._path import RegularizationPathDisplay
from ._step_sizes import StepSizeDisplay
from ._surface import RiskSurfaceDisplay
from ._weights import WeightImageDisplay, WeightsDisplay

__all__ = [
    "BoundaryDisplay",
    "ConvergenceDisplay",
    "LossDisplay",
    "MarginHistogramDisplay",
    "MistakesDisplay",
    "NovikoffDisplay",
    "OutlierDisplay",
    "RegularizationPathDisplay",
    "RiskSurfaceDisplay",
    "StepSizeDisplay",
    "WeightImageDisplay",
    "WeightsDisplay",
]
