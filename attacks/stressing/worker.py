"""One solver in a process of its own, so that it may crash, hang and write to any stream.

python worker.py CONTESTANT        # then the number of a problem a line; an answer in JSON a line
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from stressing.contestants import CONTESTANTS, CannotBeAsked
from stressing.problems import Problem, problems


def answer(name: str, problem: Problem, streams: Any) -> dict[str, Any]:
    """Return the planes as hexadecimal floats, or the error; and everything that was said besides."""
    streams.seek(0)
    streams.truncate()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            coef, intercept = CONTESTANTS[name](problem, problem.data)
        except CannotBeAsked:
            return {"left out": True}
        except Exception as error:  # noqa: BLE001  whatever a library raises is its answer
            return {"error": f"{type(error).__name__}: {error}"[:300]}
    streams.seek(0)
    written = [line for line in streams.read().splitlines() if "warn" in line.lower()]
    said = [f"{type(of.message).__name__}: {of.message}"[:300] for of in heard]
    flat = [[float(x).hex() for x in _list(values)] for values in (coef, intercept)]
    return {"coef": flat[0], "intercept": flat[1], "said": said + written}


def _list(values: Any) -> Any:
    import numpy as np

    return np.asarray(values, dtype=float).ravel()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    with tempfile.TemporaryFile("w+") as streams:
        os.dup2(streams.fileno(), 1)
        os.dup2(streams.fileno(), 2)
        all_problems = list(problems())
        for line in sys.stdin:
            said = json.dumps(answer(sys.argv[1], all_problems[int(line)], streams))
            print(said, file=answers, flush=True)


if __name__ == "__main__":
    main()
