"""Which kernels are loaded, and what is said where they are missing."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from linsep import LeastSquaresClassifier, Perceptron, SGDClassifier, _core
from linsep._core import _kernels, kernels_in_use

FIT = """
import json, warnings
{before}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import linsep
    from linsep import _core
    at_import = len(caught)
    X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 2.0]], [0, 0, 1, 1]
    models = [linsep.Perceptron(order="cyclic"), linsep.SGDClassifier(random_state=0), linsep.LeastSquaresClassifier()]
    fitted = [model.fit(X, y) for model in models]
    models[0].predict(X)
found = [(w.category.__name__, str(w.message)) for w in caught]
planes = [[*m.coef_[0], *m.intercept_] for m in fitted]
print(json.dumps(dict(kernels=_core.kernels_in_use(), at_import=at_import, warnings=found, planes=planes)))
"""


def fit_elsewhere(before="", **environment):
    env = {key: value for key, value in os.environ.items() if not key.startswith("LINSEP_")} | environment
    command = [sys.executable, "-c", FIT.format(before=before)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fit_here():
    X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 4.0], [4.0, 2.0]], [0, 0, 1, 1]
    models = Perceptron(order="cyclic"), SGDClassifier(random_state=0), LeastSquaresClassifier()
    return [[*model.fit(X, y).coef_[0], *model.intercept_] for model in models]


@pytest.mark.slow
def test_the_reference_kernels_can_be_asked_for_and_give_the_same_fits():
    ran = fit_elsewhere(LINSEP_KERNELS="reference")
    assert ran["kernels"] == "reference"
    assert ran["warnings"] == []
    np.testing.assert_allclose(ran["planes"], fit_here(), rtol=1e-10, atol=1e-12)


@pytest.mark.slow
def test_without_compiled_kernels_the_first_fit_warns_once_and_says_what_to_do():
    blocked = "import sys; sys.modules['linsep._core._kernels'] = sys.modules['linsep._core._kernels_avx2'] = None"
    ran = fit_elsewhere(blocked)
    assert ran["kernels"] == "reference"
    assert ran["at_import"] == 0
    ((category, message),) = ran["warnings"]
    assert category == "RuntimeWarning"
    assert "compiler" in message
    assert "pip install" in message
    np.testing.assert_allclose(ran["planes"], fit_here(), rtol=1e-10, atol=1e-12)


def test_the_environment_chooses_the_kernels(monkeypatch):
    monkeypatch.setenv("LINSEP_KERNELS", "baseline")
    assert _core.loading.load() is _kernels
    monkeypatch.setenv("LINSEP_KERNELS", "reference")
    assert _core.loading.load() is None
    monkeypatch.setenv("LINSEP_KERNELS", "fast")
    with pytest.warns(RuntimeWarning, match="LINSEP_KERNELS='fast' is not known"):
        assert _core.loading.load() is not None


def test_the_compiled_kernels_are_in_use_where_there_is_a_compiler():
    has_compiler = shutil.which("c++") or shutil.which("g++")
    assert kernels_in_use() in (("avx2", "baseline") if has_compiler else ("avx2", "baseline", "reference"))
