"""scikit-learn's callbacks (progress bars and others), where the version has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .._common.types import FloatArray

if TYPE_CHECKING:
    from ..objective.objective import Objective
    from ..solvers.result import Observer, Result

    Progress = tuple[Callable[[int], Observer | None], Callable[[list[Result]], None]]

__all__ = ["CallbackSupport", "report_progress", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """No callbacks in this version of scikit-learn."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


@contextmanager
def report_progress(estimator: Any, objectives: list[Objective]) -> Iterator[Progress]:
    """Tell the estimator's callbacks of the fit: a task for each objective, and in it one for each iteration.

    Where an objective has several planes, its observer hears of one row [w, b] for each.

    Yields a function that gives the observer of objective k, or None where nobody listens, and one to be called with
    the results: a run that looks at itself now and then has not told of every step, nor perhaps of its last.
    """
    if not hasattr(estimator, "_skl_callbacks"):
        yield (lambda k: None), (lambda results: None)
        return
    examples, problems, planes = objectives[0].examples, len(objectives), objectives[0].head.planes or 1
    X, y = (None, None) if examples.resident is None else (examples.resident.X, estimator.classes_[objectives[0].codes])
    fit = estimator._init_callback_context(max_subtasks=problems, sequential_subtasks=False)
    fit.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    tasks: dict[int, Any] = {}
    points: dict[int, FloatArray] = {}
    heard = dict.fromkeys(range(problems), 0)

    def fitted() -> dict[str, Any]:
        """Return the attributes with which the estimator could predict now; a class without a point yet gets zeros."""
        intercept = bool(getattr(estimator, "fit_intercept", True))
        d = estimator.n_features_in_
        thetas = np.vstack([points.get(k, np.zeros((planes, d + intercept))) for k in range(problems)])
        return {
            "coef_": thetas[:, :d],
            "intercept_": thetas[:, d] if intercept else np.zeros(len(thetas)),
            "classes_": estimator.classes_,
            "n_features_in_": d,
        }

    def observer(k: int) -> Callable[[int, FloatArray | None, float], bool]:
        task = fit.subcontext(task_name=f"problem {k}", task_id=k, max_subtasks=None)
        tasks[k] = task.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

        def observe(iteration: int, theta: FloatArray | None, objective: float) -> bool:
            begun, known = (fitted if k in points else None), (None if theta is None else fitted)
            step = task.subcontext(task_name="iteration")
            step.call_on_fit_task_begin(estimator=estimator, X=X, y=y, reconstruction_attributes=begun)
            heard[k] += 1
            if theta is not None:
                points[k] = theta
            return bool(step.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes=known))

        return observe

    observers: dict[int, Callable[[int, FloatArray | None, float], bool]] = {}

    def observer_of(k: int) -> Callable[[int, FloatArray | None, float], bool]:
        if k not in observers:
            observers[k] = observer(k)
        return observers[k]

    def ended(results: list[Result]) -> None:
        for k, (objective, result) in enumerate(zip(objectives, results, strict=True)):
            for step in range(heard[k] + 1, result.n_iter + 1):
                last = step == result.n_iter
                observer_of(k)(step, objective.planes(result.w, result.b) if last else None, np.nan)

    yield observer_of, ended
    for task in tasks.values():
        task.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes=fitted)
    fit.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes=fitted)
