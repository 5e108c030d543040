"""Bad input: every estimator answers with a clear error or a correct result, and never changes what it was given."""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import linsep
from linsep import (
    HardMarginSVC,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVC,
    LinearSVCCV,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    SGDClassifier,
    ZeroOneClassifier,
)
from linsep.solvers import GradientDescent

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MODELS = {
    "random perceptron": Perceptron(max_iter=30, random_state=0),
    "cyclic perceptron": Perceptron(order="cyclic", max_iter=30),
    "worst perceptron": Perceptron(order="worst", max_iter=60),
    "averaged perceptron": Perceptron(keep="average", max_iter=30, random_state=0),
    "voted perceptron": Perceptron(keep="vote", max_iter=30, random_state=0),
    "sgd": SGDClassifier(random_state=0),
    "sgd l1": SGDClassifier("logistic", penalty="l1", random_state=0),
    "least squares": LeastSquaresClassifier(),
    "ridge": LeastSquaresClassifier(C=1.0),
    "linear": LinearClassifier(random_state=0),
    "gradient descent": LinearClassifier("logistic", solver=GradientDescent()),
    "logistic": LogisticRegression(),
    "logistic l1": LogisticRegression(l1_ratio=1.0),
    "logistic, chosen": LogisticRegressionCV(Cs=[0.1, 1.0], cv=2),
    "svm": LinearSVC(),
    "svm, chosen": LinearSVCCV(Cs=[0.1, 1.0], cv=2),
    "svm, squared": LinearSVC(loss="squared_hinge"),
    "svm, l1": LinearSVC("l1"),
    "hard margin": HardMarginSVC(on_overlap="soft"),
    "zero-one": ZeroOneClassifier(),
}
every_model = pytest.mark.parametrize("model", [pytest.param(clone(m), id=name) for name, m in MODELS.items()])
WEIGHTED = {name: m for name, m in MODELS.items() if "class_weight" in m.get_params()}
every_weighted = pytest.mark.parametrize("model", [pytest.param(clone(m), id=name) for name, m in WEIGHTED.items()])
STREAMING = {name: m for name, m in MODELS.items() if hasattr(m, "partial_fit") and "voted" not in name}
every_stream = pytest.mark.parametrize("model", [pytest.param(clone(m), id=name) for name, m in STREAMING.items()])


def test_every_estimator_is_here():
    public = [getattr(linsep, name) for name in linsep.__all__]
    estimators = {it for it in public if isinstance(it, type) and issubclass(it, ClassifierMixin)}
    assert {type(model) for model in MODELS.values()} == estimators


def weighing(model, class_weight):
    """Return an unfitted copy that weighs the classes, if it can."""
    return clone(model).set_params(**({"class_weight": class_weight} if "class_weight" in model.get_params() else {}))


def with_entry(X, value):
    X = X.copy()
    X[3, 1] = value
    return X


BAD_X = {
    "NaN": (lambda X: with_entry(X, np.nan), "NaN"),
    "infinity": (lambda X: with_entry(X, np.inf), "infinity"),
    "minus infinity": (lambda X: with_entry(X, -np.inf), "infinity"),
    "sparse NaN": (lambda X: sparse.csr_array(with_entry(X, np.nan)), "NaN"),
    "sparse infinity": (lambda X: sparse.csr_array(with_entry(X, np.inf)), "infinity"),
    "one dimension": (lambda X: X[:, 0], "2D array"),
    "three dimensions": (lambda X: X[:, :, None], "dim"),
    "no columns": (lambda X: X[:, :0], "0 feature"),
    "no rows": (lambda X: X[:0], r"0 sample|inconsistent"),
    "fewer rows than labels": (lambda X: X[:-1], "inconsistent numbers of samples"),
    "words": (
        lambda X: np.full(X.shape, "word", dtype=object),
        r"could not convert|'word' in row 0, column x0, which is no number",
    ),
    "complex": (lambda X: X + 1j, "Complex"),
    "nothing": (lambda X: None, "(?i)array"),
}


@every_model
@pytest.mark.parametrize(("change", "words"), BAD_X.values(), ids=BAD_X)
def test_examples_that_are_no_numbers_or_have_no_shape_are_an_error(model, change, words, overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match=words):
        clone(model).fit(change(X), y)


BAD_Y = {
    "one class": (lambda y: np.ones_like(y), "one class"),
    "NaN": (lambda y: np.where(y > 0, 1.0, np.nan), "NaN"),
    "infinity": (lambda y: np.where(y > 0, 1.0, np.inf), "infinity"),
    "measurements": (lambda y: np.linspace(0, 1, len(y)), "continuous"),
    "two columns": (lambda y: np.column_stack([y, y]), "1d array"),
    "too few": (lambda y: y[:-1], "inconsistent numbers of samples"),
    "none": (lambda y: None, "y"),
}


@every_model
@pytest.mark.parametrize(("change", "words"), BAD_Y.values(), ids=BAD_Y)
def test_labels_that_are_no_classes_are_an_error(model, change, words, overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match=words):
        clone(model).fit(X, change(y))


@every_model
def test_no_examples_at_all_are_an_error(model):
    with pytest.raises(ValueError, match="0 sample"):
        clone(model).fit(np.empty((0, 3)), np.empty(0))


BAD_WEIGHTS = {
    "negative": (lambda n: np.where(np.arange(n) == 7, -1.0, 1.0), r"sample_weight\[7\] is negative"),
    "all zero": (np.zeros, "zero for all"),
    "NaN": (lambda n: np.where(np.arange(n) == 7, np.nan, 1.0), "sample_weight.*NaN"),
    "infinite": (lambda n: np.where(np.arange(n) == 7, np.inf, 1.0), "sample_weight.*infinity"),
    "too few": (lambda n: np.ones(n - 1), "sample_weight has shape"),
    "two columns": (lambda n: np.ones((n, 2)), "sample_weight has shape"),
    "words": (lambda n: np.full(n, "heavy"), r"could not convert|sample_weight has .* which is no number"),
    "one negative number": (lambda n: -1.0, "negative"),
    "one NaN": (lambda n: np.nan, "(?i)sample_weight"),
    "one zero": (lambda n: 0.0, "zero for all"),
}


@every_model
@pytest.mark.parametrize(("weights", "words"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_weights_that_make_no_sense_are_an_error(model, weights, words, overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match=words):
        clone(model).fit(X, y, sample_weight=weights(len(y)))


BAD_CLASS_WEIGHTS = {
    "negative": ({-1: -1.0}, "negative"),
    "NaN": ({-1: np.nan}, "not finite"),
    "infinite": ({-1: np.inf}, "not finite"),
    "a word": ("heavy", "class_weight='heavy'"),
    "all zero": ({-1: 0.0, 1: 0.0}, "(?i)zero"),
}


@every_weighted
@pytest.mark.parametrize(("class_weight", "words"), BAD_CLASS_WEIGHTS.values(), ids=BAD_CLASS_WEIGHTS)
def test_class_weights_that_make_no_sense_are_an_error(model, class_weight, words, overlapping):
    with pytest.raises(ValueError, match=words):
        clone(model).set_params(class_weight=class_weight).fit(*overlapping)


@every_weighted
def test_weights_that_are_zero_together_are_an_error(model, overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match=r"(?i)zero"):
        clone(model).set_params(class_weight={-1: 0.0}).fit(X, y, sample_weight=(y < 0).astype(float))


# -- columns ----------------------------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1])
def test_a_column_without_variance_does_no_harm(model, constant, overlapping):
    X, y = overlapping
    with_constant = np.column_stack([X, np.full(len(y), constant)])
    plain, fitted = clone(model).fit(X, y), clone(model).fit(with_constant, y)
    assert np.isfinite(fitted.coef_).all()
    assert np.abs(fitted.coef_).max() < 1e3
    assert fitted.score(with_constant, y) >= plain.score(X, y) - 0.1


@every_model
@pytest.mark.parametrize("size", [1e160, 1e300])  # whose squares overflow, and whose products do
@pytest.mark.parametrize("to", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_a_huge_column_is_handled_or_named(model, size, to, separable):
    X, y = separable
    X = np.column_stack([X, size * np.random.default_rng(0).uniform(-1, 1, len(y))])
    fitted, said = clone(model), ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error", RuntimeWarning)  # an overflow that nobody explains
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            fitted.fit(to(X), y)
        except ValueError as error:
            said = str(error)
    said += " ".join(str(w.message) for w in caught)
    named = re.search(r"(?i)scal|large|huge|overflow", said) and re.search(r"(?i)feature|column|\bX\b|data", said)
    assert named or (hasattr(fitted, "coef_") and fitted.score(to(X), y) > 0.8), said
    assert np.isfinite(getattr(fitted, "coef_", 0.0)).all()
    assert np.isfinite(getattr(fitted, "intercept_", 0.0)).all()


@pytest.mark.slow
@every_model
def test_a_tiny_column_does_no_harm(model, overlapping):
    X, y = overlapping
    X = np.column_stack([X, np.full(len(y), 1e-300), 1e-310 * X[:, 0]])
    fitted = clone(model).fit(X, y)
    assert np.isfinite(fitted.decision_function(X)).all()
    assert fitted.score(X, y) > 0.7


# -- arrays -----------------------------------------------------------------------------------------------------------

LAYOUTS = {
    "fortran": np.asfortranarray,
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "object": lambda X: X.astype(object),
    "other byte order": lambda X: X.astype(">f8"),
    "csr": sparse.csr_array,
    "csr of strided parts": lambda X: strided(sparse.csr_array(X)),
}


def strided(X):
    X.data = np.repeat(X.data, 2)[::2]
    return X


@every_model
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_layout_of_an_array_does_not_matter(model, layout, overlapping):
    X, y = overlapping
    expected, fitted = clone(model).fit(X, y), clone(model).fit(layout(X), y)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(fitted.predict(layout(X)), expected.predict(X))


@every_model
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("to", [np.array, sparse.csr_array], ids=["dense", "csr"])
def test_arrays_that_may_not_be_written_are_read_and_left_as_they_were(model, dtype, to, overlapping):
    X, y = to(overlapping[0].astype(dtype)), overlapping[1].copy()
    weight = np.linspace(0.5, 2, len(y))
    arrays = [*([X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]), y, weight]
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    fitted = weighing(model, {1: 2.0}).fit(X, y, sample_weight=weight)
    fitted.predict(X)
    if model in STREAMING.values():
        fitted.partial_fit(X, y, sample_weight=weight)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@every_model
@pytest.mark.parametrize("to", [np.array, sparse.csr_array], ids=["dense", "csr"])
def test_writable_arrays_are_left_as_they_were(model, to, overlapping):
    X, y, weight = to(overlapping[0]), overlapping[1].copy(), np.linspace(0.5, 2, len(overlapping[1]))
    arrays = [*([X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]), y, weight]
    copies = [array.copy() for array in arrays]
    weighing(model, "balanced").fit(X, y, sample_weight=weight).decision_function(X)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


DAMAGE = {
    "negative index": ("indices", 5, -1),
    "index past the last column": ("indices", 5, 3),
    "overflowed index": ("indices", 5, -(2**31)),
    "largest index": ("indices", 5, 2**31 - 1),
    "decreasing row bounds": ("indptr", 4, 100),
    "row bounds past the end": ("indptr", -1, 2**30),
    "overflowed row bounds": ("indptr", -1, -(2**31)),
    "row bounds that do not begin with 0": ("indptr", 0, 1),
}


@every_model
@pytest.mark.parametrize(("part", "at", "value"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_csr_is_an_error_in_fit_and_in_predict(model, part, at, value, overlapping):
    X, y = overlapping
    good, damaged = sparse.csr_array(X), sparse.csr_array(X)
    getattr(damaged, part)[at] = value
    with pytest.raises(ValueError, match=r"(?i)csr|ind"):
        clone(model).fit(damaged, y)
    with pytest.raises(ValueError, match=r"(?i)csr|ind"):
        clone(model).fit(good, y).predict(damaged)


@every_model
def test_csr_with_entries_stored_twice_is_read_as_their_sum(model, overlapping):
    X, y = overlapping
    plain, rows = sparse.csr_array(X), np.arange(len(y) + 1)
    halves = sparse.csr_array((np.repeat(plain.data / 2, 2), np.repeat(plain.indices, 2), 6 * rows), shape=X.shape)
    expected, fitted = clone(model).fit(plain, y), clone(model).fit(halves, y)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-6, atol=1e-9)


@every_model
def test_a_fit_that_failed_leaves_no_half_fitted_model(model, overlapping):
    X, y = overlapping
    unfitted = clone(model)
    with pytest.raises(ValueError, match="negative"):
        unfitted.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(NotFittedError):
        unfitted.predict(X)


# -- predicting and streaming -----------------------------------------------------------------------------------------


@every_model
def test_predicting_needs_a_fit_and_the_same_columns(model, overlapping):
    X, y = overlapping
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    fitted = clone(model).fit(X, y)
    for wrong, words in ((X[:, :2], "features"), (X[0], "2D"), (with_entry(X, np.nan), "NaN"), (X[:0], "0 sample")):
        with pytest.raises(ValueError, match=words):
            fitted.predict(wrong)
    np.testing.assert_array_equal(fitted.predict(sparse.csr_array(X)), fitted.predict(X))


@every_stream
@pytest.mark.parametrize(
    ("labels", "name"), [([2, 3], "3"), (["yes", "no"], "no"), ([1.0, 2.0], "2"), ([True, False], "False")]
)
def test_labels_that_a_stream_did_not_announce_are_an_error(model, labels, name, overlapping):
    X, y = overlapping
    classes = {"3": [1, 2], "no": ["yes", "maybe"], "2": [0, 1], "False": [1, 2]}[name]
    with pytest.raises(ValueError, match=rf"label.*{name}.*not among the classes"):
        clone(model).partial_fit(X, np.array(labels)[(y > 0).astype(int)], classes=classes)


@every_stream
def test_a_stream_that_changes_is_an_error_and_leaves_the_model_as_it_was(model, overlapping):
    X, y = overlapping
    streamed = clone(model).partial_fit(X, y, classes=[-1, 1])
    before = streamed.coef_.copy(), streamed.intercept_.copy(), streamed.t_
    for wrong, words in (
        (dict(X=X[:, :2], y=y), "features"),
        (dict(X=X, y=y + 5), "label"),
        (dict(X=with_entry(X, np.nan), y=y), "NaN"),
        (dict(X=X, y=y, classes=[0, 1]), "classes"),
        (dict(X=X, y=y, sample_weight=-np.ones(len(y))), "negative"),
        (dict(X=X[:0], y=y[:0]), "0 sample"),
        (dict(X=X, y=y[:-1]), "inconsistent"),
    ):
        with pytest.raises(ValueError, match=words):
            streamed.partial_fit(**wrong)
    np.testing.assert_array_equal(streamed.coef_, before[0])
    np.testing.assert_array_equal(streamed.intercept_, before[1])
    assert streamed.t_ == before[2]
    streamed.partial_fit(X, y)


@every_stream
def test_a_stream_after_a_fit_must_bring_the_same_columns_and_classes(model, overlapping):
    X, y = overlapping
    fitted = clone(model).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        fitted.partial_fit(X[:, :2], y)
    assert fitted.predict(X).shape == y.shape
    with pytest.raises(ValueError, match="classes"):
        clone(model).fit(X, y).partial_fit(X, y, classes=[-1, 1, 2])


@every_stream
def test_a_stream_needs_classes_and_at_least_two(model, overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match="classes"):
        clone(model).partial_fit(X, y)
    with pytest.raises(ValueError, match="class"):
        clone(model).partial_fit(X, y, classes=[1])
    one_at_a_time = clone(model).partial_fit(X[:1], y[:1], classes=[-1, 1])
    assert np.isfinite(one_at_a_time.coef_).all()


def test_votes_cannot_be_streamed(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match="vote"):
        Perceptron(keep="vote").partial_fit(X, y, classes=[-1, 1])


# -- parameters -------------------------------------------------------------------------------------------------------

BAD_PARAMETERS = [
    (Perceptron(order="sorted"), "order='sorted'"),
    (Perceptron(keep="all"), "keep='all'"),
    (Perceptron(record="never"), "record='never'"),
    (Perceptron(max_iter=0), "max_iter=0"),
    (Perceptron(max_iter=2.5), "max_iter=2.5"),
    (Perceptron(keep="vote", warm_start=True), "vote"),
    (SGDClassifier("huber"), "loss='huber'"),
    (SGDClassifier("zero_one"), "flat"),
    (SGDClassifier(penalty="l3"), "penalty='l3'"),
    (SGDClassifier(l1_ratio=1.5), "l1_ratio=1.5"),
    *(
        (each(penalty="elasticnet", l1_ratio=None), "needs l1_ratio")
        for each in (LogisticRegression, SGDClassifier, Perceptron, LinearClassifier)
    ),
    (LogisticRegression(penalty="l2", l1_ratio=-0.5), "l1_ratio=-0.5"),
    (LogisticRegression(penalty="l2", l1_ratio="half"), "l1_ratio='half'"),
    (LogisticRegression(penalty=None, C=-1.0), "C=-1.0"),
    (SGDClassifier(penalty="elasticnet", l1_ratio=2), "l1_ratio=2"),
    (SGDClassifier(C=0), "C=0"),
    (SGDClassifier(C=-1.0), "C=-1.0"),
    (SGDClassifier(C=np.nan), "C=nan"),
    (SGDClassifier(C="big"), "C='big'"),
    (SGDClassifier(keep="vote"), "keep='vote'"),
    (SGDClassifier(schedule="fast"), "schedule='fast'"),
    (SGDClassifier(schedule=-1.0), "positive"),
    (SGDClassifier(schedule=np.inf), "finite"),
    (SGDClassifier(stopping="bored"), "'bored'"),
    (SGDClassifier(max_iter=-1), "max_iter=-1"),
    (LinearClassifier(max_iter=-1), "max_iter=-1"),
    (LinearClassifier("zero_one"), "flat"),
    (LinearClassifier(solver="simplex"), "solver='simplex'"),
    (LinearClassifier("hinge", solver="least_squares"), "quadratic"),
    (LeastSquaresClassifier(C=0.0), "C=0.0"),
    (LogisticRegression(C=0.0), "C=0.0"),
    (LogisticRegression(l1_ratio=2.0), "l1_ratio=2"),
    (LogisticRegression(solver="simplex"), "solver='simplex'"),
    (LogisticRegression(tol=-1.0), "tol=-1"),
    (LogisticRegression(multi_class="some"), "multi_class='some'"),
    (LinearSVC(loss="huber"), "loss='huber'"),
    (LinearSVC(C=-1.0), "C=-1.0"),
    (LinearSVC(tol=0.0), "tol=0"),
    (HardMarginSVC(on_overlap="cry"), "on_overlap='cry'"),
    (HardMarginSVC(tol=0.0), "tol=0"),
    (HardMarginSVC(max_iter=0), "max_iter=0"),
    (ZeroOneClassifier(time_limit=0.0), "time_limit=0"),
]


@pytest.mark.parametrize(("model", "words"), BAD_PARAMETERS, ids=[words for _, words in BAD_PARAMETERS])
def test_a_parameter_that_makes_no_sense_is_named_at_fit(model, words, overlapping):
    with pytest.raises(ValueError, match=re.escape(words)):
        model.fit(*overlapping)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LogisticRegression(C=np.float64(0.0)), "C=0.0 "),
        (LogisticRegression(l1_ratio=np.float32(2.0)), "l1_ratio=2.0 "),
        (LinearSVC(tol=np.float64(0.0)), "tol=0.0 "),
        (LinearSVC(max_iter=np.int64(-1)), "max_iter=-1 "),
        (LinearSVC(class_weight={np.int64(-1): np.float64(-2.0)}), "class_weight={-1: -2.0} "),
        (ZeroOneClassifier(time_limit=np.float64(0.0)), "time_limit=0.0 "),
        (HardMarginSVC(max_iter=np.int64(0)), "max_iter=0 "),
        (LinearClassifier(n_jobs=np.int64(0)), "n_jobs=0 "),
        (SGDClassifier(schedule=np.float64(-1.0)), "=-1.0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_messages_show_plain_numbers(model, words, overlapping):
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        model.fit(*overlapping)
    assert "np." not in str(error.value)


def test_messages_show_plain_labels(overlapping):
    X, y = overlapping
    with pytest.raises(ValueError, match=r"one class only, 1\.0:"):
        LogisticRegression().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match=r"other classes, \[-1(\.0)?, 1(\.0)?\];"):
        LogisticRegression(warm_start=True).fit(X, y).fit(X, np.where(y > 0, 7, y))


@every_model
@pytest.mark.parametrize(("weight", "word"), [(5e-324, "less"), (1e308, "more")])
def test_weights_beyond_what_floats_reckon_with_are_refused_in_words(model, weight, word, overlapping):
    X, y = overlapping
    if isinstance(model, ZeroOneClassifier) and word == "less":  # which adds weights up as whole numbers
        fitted = clone(model).fit(X, y, sample_weight=np.full(len(y), weight))
        assert fitted.score(X, y) == clone(model).fit(X, y).score(X, y)
        return
    with pytest.raises(ValueError, match=f"adds up to {word} than .*scale the weights"):
        clone(model).fit(X, y, sample_weight=np.full(len(y), weight))


@pytest.mark.parametrize("coefficients", [[1.7e308, -8e307, 0.0], [np.inf, 1.0, -np.inf], [0.0, 0.0, 0.0]], ids=str)
def test_a_model_whose_coefficients_are_at_the_end_of_floats_explains_itself(coefficients):
    model = linsep.LogisticRegression().fit([[0.0, 1.0, 2.0], [1.0, 0.0, 0.0]], [0, 1])
    model.coef_ = np.array([coefficients])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bars = [line.count("█") for line in str(model.explain()).splitlines()]
    assert max(bars) == (20 if any(coefficients) else 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_repeated_entries_whose_sum_alone_has_too_large_a_square_are_refused(dtype):
    large = 0.6 * np.sqrt(np.finfo(np.float64).max)  # its square is a float, and that of twice as much is none
    parts = np.array([large, large, 1.0, -1.0]), np.array([0, 0, 0, 1]), np.array([0, 2, 3, 4])
    y = np.array([0, 1, 0])
    model = SGDClassifier(max_iter=1, alpha=1e-4, tol=None, random_state=0)
    if dtype is np.float64:
        with pytest.raises(ValueError, match="whose squares overflow"):
            model.fit(sparse.csr_array(parts, shape=(3, 2)), y)
    parts[0][:2] = 1e30
    fitted = model.fit(sparse.csr_array((parts[0].astype(dtype), *parts[1:]), shape=(3, 2)), y)
    assert np.isfinite(fitted.coef_).all()
    parts[0][1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(sparse.csr_array((parts[0].astype(dtype), *parts[1:]), shape=(3, 2)), y)
