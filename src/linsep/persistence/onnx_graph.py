"""A model as an ONNX graph: one input a column (or one matrix), the label and the probabilities out."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import __version__
from .._common.types import FloatArray
from .._common.words import listed
from ..data.encoding import MatrixEncoding, from_dict
from .terms import Category, Model, Number, Text, model_terms

#: What the graph needs at the least.
OPSET, ML_OPSET = 18, 3
#: What inputs are, in the words of the model's own documentation.
NUMBER = "a number in the units of the file that the model was fitted on; NaN where it is missing"
CATEGORY = 'text; "" where it is missing. The levels of the fit: {}'
DATE = f"nanoseconds since 1970-01-01, UTC, as a 64-bit whole number; {np.iinfo(np.int64).min} where it is missing"
TEXT = "text, of which the words are told apart; empty where it is missing"
MATRIX = "one column a feature, in the order and the units of the file that the model was fitted on"


class _Graph:
    """A graph in the making: nodes are added and called by the name of their output."""

    def __init__(self) -> None:
        import onnx

        self.onnx = onnx
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any) -> str:
        name = f"constant_{len(self.constants)}"
        array = np.asarray(values)
        if array.dtype.kind in "OU":
            text: Any = [str(value).encode() for value in array.ravel()]
            tensor = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, array.shape, text)
        else:
            tensor = self.onnx.numpy_helper.from_array(array, name)
        self.constants.append(tensor)
        return name

    def add(self, op: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        output = output or f"{op}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(op, list(inputs), [output], domain=domain, **attributes))
        return output

    def input(self, name: str, kind: str, what: str, width: int = 1) -> str:
        types = self.onnx.TensorProto
        of_kind = {"number": types.DOUBLE, "text": types.STRING, "date": types.INT64}[kind]
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, of_kind, ["rows", width], what))
        return name


def to_onnx(found: Any) -> bytes:
    """Return a serialised ONNX model in double precision.

    Its inputs are called as the columns and are of shape (rows, 1): doubles with NaN for missing numbers, text with ""
    for missing categories; dates are 64-bit whole numbers, the nanoseconds since 1970, as pandas and NumPy keep them
    (``.astype("int64")``, missing ones the lowest number). A model of LIBSVM text or NPZ has one input, X. All of that
    is said in the model, too: each input and output has its description (``doc_string``), the metadata have them all.
    Its outputs are ``label`` and, where the model has them, ``probabilities``. Words of text are told apart by an
    operator of onnxruntime (``Tokenizer``), and made lower case by the locale C.UTF-8 of the machine that runs it.

    Parameters
    ----------
    found : ModelFile
    """
    model = model_terms(found)
    graph = _Graph()
    if isinstance(from_dict(found.encoding), MatrixEncoding):
        X = graph.input("X", "number", MATRIX, len(model.numbers))
        parts = [graph.add("MatMul", X, graph.constant(np.array([weights for _, weights in model.products])))]
    else:
        dates = _Dates(graph, model)
        parts = _number_scores(graph, model, dates)
        parts += [_category_score(graph, one, dates) for one in model.categories]
        parts += [_text_score(graph, one) for one in model.texts]
    scores = graph.constant(np.array([model.intercept]))
    for part in parts:
        scores = graph.add("Add", scores, part)
    return _finished(graph, model, scores)


def _number_scores(graph: _Graph, model: Model, dates: _Dates) -> list[str]:
    """Scores of standardised numbers and their products, and of being missing."""
    if not model.numbers:
        return []
    columns = [dates.part(number.name) or graph.input(number.name, "number", _unit(number)) for number in model.numbers]
    raw = graph.add("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]
    mean = graph.constant(np.array([[number.mean for number in model.numbers]]))
    scale = graph.constant(np.array([[number.scale for number in model.numbers]]))
    missing = graph.add("IsNaN", raw)
    fill = graph.constant(np.array([[number.fill for number in model.numbers]]))
    z = graph.add("Where", missing, fill, graph.add("Div", graph.add("Sub", raw, mean), scale))
    features = (
        [_product(graph, z, powers) for powers, _ in model.products] if len(model.products) > len(columns) else []
    )
    block = graph.add("Concat", *features, axis=1) if features else z
    parts = [graph.add("MatMul", block, graph.constant(np.array([weights for _, weights in model.products])))]
    lacking = np.array([number.missing or [0.0] * len(model.intercept) for number in model.numbers])
    if lacking.any():
        shown = graph.add("Cast", missing, to=graph.onnx.TensorProto.DOUBLE)
        parts.append(graph.add("MatMul", shown, graph.constant(lacking)))
    return parts


def _unit(number: Number) -> str:
    """Say what a number is; one that the file writes otherwise is a number here all the same."""
    if not number.form:
        return NUMBER
    decimal, unit = number.form[0], f" {number.form[1:]}" if number.form[1:] else ""
    group = "," if decimal == "." else "."
    return f"{NUMBER}. What text writes as 1{group}234{decimal}5{unit} is 1234.5 here"


def _product(graph: _Graph, z: str, powers: dict[int, int]) -> str:
    places = [j for j, power in powers.items() for _ in range(power)]
    found = graph.add("Gather", z, graph.constant(np.array([places[0]])), axis=1)
    for j in places[1:]:
        found = graph.add("Mul", found, graph.add("Gather", z, graph.constant(np.array([j])), axis=1))
    return found


def _category_score(graph: _Graph, category: Category, dates: _Dates) -> str:
    """Look the level up in a table of weights: unknown levels come first, then missing, then the known ones."""
    part, levels = dates.part(category.name), category.levels
    if part is None:
        keys: dict[str, Any] = dict(keys_strings=["", *levels])
    else:
        levels = {value: weights for value, weights in levels.items() if value.isdigit()}
        keys = dict(keys_int64s=[_Dates.MISSING, *map(int, levels)])
    places = list(range(1, len(levels) + 2))
    values = part or graph.input(category.name, "text", CATEGORY.format(listed(category.fitted, 8)))
    code = graph.add("LabelEncoder", values, domain="ai.onnx.ml", values_int64s=places, default_int64=0, **keys)
    flat = graph.add("Reshape", code, graph.constant(np.array([-1])))
    table: FloatArray = np.array([category.other, category.missing, *levels.values()])
    return graph.add("Gather", graph.constant(table), flat, axis=0)


class _Dates:
    """The parts of dates, from the nanoseconds since 1970 by whole numbers.

    The calendar is that of Howard Hinnant's `civil_from_days`: years begin in March, 400 of them have 146,097 days.
    """

    MISSING = -1

    def __init__(self, graph: _Graph, model: Model) -> None:
        self.graph, self.parts, self.made = graph, model.date_parts, dict[str, dict[str, str]]()

    def part(self, name: str) -> str | None:
        """Return what stands for a number or category that is part of a date; None for others."""
        if name not in self.parts:
            return None
        date, part = self.parts[name]
        if date not in self.made:
            self.made[date] = self._of(self.graph.input(date, "date", DATE))
        return self.made[date][part]

    def _of(self, moment: str) -> dict[str, str]:
        add, constant = self.graph.add, self.graph.constant
        missing = add("Equal", moment, constant(np.iinfo(np.int64).min))

        def whole(op: str, left: str, right: int | str) -> str:
            return add(op, left, constant(np.int64(right)) if isinstance(right, int) else right)

        def floored(left: str, right: int) -> str:
            return whole("Div", whole("Sub", left, whole("Mod", left, right)), right)

        known = add("Where", missing, constant(np.int64(0)), moment)
        milliseconds = floored(known, 1_000_000)  # in whole ones, as linsep reads a file
        exact = add("Cast", milliseconds, to=self.graph.onnx.TensorProto.DOUBLE)
        days = add("Where", missing, constant(np.nan), add("Div", exact, constant(np.float64(86_400e3))))
        day = floored(milliseconds, 86_400_000)
        of_era = whole("Mod", whole("Add", day, 719_468), 146_097)  # of 400 years
        leaps = whole("Sub", whole("Div", of_era, 36_524), whole("Div", of_era, 1_460))
        years = whole("Div", whole("Sub", whole("Add", of_era, leaps), whole("Div", of_era, 146_096)), 365)
        before = whole("Sub", whole("Add", whole("Mul", years, 365), whole("Div", years, 4)), whole("Div", years, 100))
        of_year = whole("Sub", of_era, before)
        since_march = whole("Div", whole("Add", whole("Mul", of_year, 5), 2), 153)
        month = whole("Add", whole("Mod", whole("Add", since_march, 2), 12), 1)
        weekday = whole("Mod", whole("Add", day, 3), 7)
        lacking = constant(np.int64(self.MISSING))
        return {
            "days": days,
            "month": add("Where", missing, lacking, month),
            "weekday": add("Where", missing, lacking, weekday),
        }


def _text_score(graph: _Graph, text: Text) -> str:
    """TF-IDF of the words, (1 + ln count) · idf, made one long, times their weights."""
    flat = graph.add("Reshape", graph.input(text.name, "text", TEXT), graph.constant(np.array([-1])))
    lower = graph.add("StringNormalizer", flat, case_change_action="LOWER", is_case_sensitive=1, locale="C.UTF-8")
    # Two letters or digits at the least, as scikit-learn's words.
    rule: dict[str, Any] = dict(mark=0, mincharnum=1, pad_value="", tokenexp=r"[\pL\pN_][\pL\pN_]+")
    words = graph.add("Tokenizer", lower, domain="com.microsoft", **rule)
    grams: dict[str, Any] = dict(min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0])
    pool: dict[str, Any] = dict(
        pool_strings=[word.encode() for word in text.words], ngram_indexes=list(range(len(text.words)))
    )
    counted = graph.add("TfIdfVectorizer", words, mode="TF", **grams, **pool)
    count = graph.add("Cast", counted, to=graph.onnx.TensorProto.DOUBLE)
    one, zero = graph.constant(np.float64(1.0)), graph.constant(np.float64(0.0))
    damped = graph.add("Add", graph.add("Log", graph.add("Max", count, one)), one)
    idf, weights = zip(*text.words.values(), strict=True)
    values = graph.add(
        "Mul", graph.add("Where", graph.add("Greater", count, zero), damped, zero), graph.constant([idf])
    )
    # ReduceL2 rounds to single precision in onnxruntime 1.18.
    length = graph.add("Sqrt", graph.add("ReduceSumSquare", values, graph.constant(np.array([1])), keepdims=1))
    safe = graph.add("Where", graph.add("Greater", length, zero), length, one)
    return graph.add("MatMul", graph.add("Div", values, safe), graph.constant(np.array(weights)))


def _finished(graph: _Graph, model: Model, scores: str) -> bytes:
    onnx = graph.onnx
    labels = np.asarray(model.classes)
    labels = labels.astype(np.int64) if labels.dtype.kind in "bi" else labels
    if len(model.classes) == 2:
        relation = "Greater" if model.threshold is None else "GreaterOrEqual"
        wins = graph.add(relation, scores, graph.constant(np.float64(model.threshold or 0.0)))
        above = graph.add("Reshape", wins, graph.constant(np.array([-1])))
        winner = graph.add("Cast", above, to=onnx.TensorProto.INT64)
    else:
        winner = graph.add("ArgMax", scores, axis=1, keepdims=0)
    graph.add("Gather", graph.constant(labels), winner, output="label", axis=0)
    kinds = {"i": onnx.TensorProto.INT64, "f": onnx.TensorProto.DOUBLE}
    outputs = [
        onnx.helper.make_tensor_value_info(
            "label", kinds.get(labels.dtype.kind, onnx.TensorProto.STRING), ["rows"], "the class that is predicted"
        )
    ]
    if model.link is not None:
        _probabilities(graph, model, scores)
        shape = ["rows", len(model.classes)]
        what = f"of the classes {', '.join(map(str, model.classes))}, in this order"
        outputs.append(onnx.helper.make_tensor_value_info("probabilities", onnx.TensorProto.DOUBLE, shape, what))
    made = onnx.helper.make_graph(graph.nodes, "linsep", graph.inputs, outputs, graph.constants)
    domains = {"": OPSET, "ai.onnx.ml": ML_OPSET, **({"com.microsoft": 1} if model.texts else {})}
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in domains.items()]
    document = onnx.helper.make_model(
        made, opset_imports=opsets, ir_version=9, producer_name="linsep", producer_version=__version__
    )
    document.doc_string = "A linear classifier, exported by linsep. The metadata say what its inputs and outputs are."
    said = {f"{kind} {one.name}": one.doc_string for kind in ("input", "output") for one in getattr(made, kind)}
    onnx.helper.set_model_props(document, said)
    onnx.checker.check_model(document)
    return bytes(document.SerializeToString())


def _probabilities(graph: _Graph, model: Model, scores: str) -> None:
    looked_up = model.maps is not None and "shares" in model.maps[0]
    if model.odds:
        scores = _log_odds(graph, scores, len(model.classes))
    if model.maps is not None and not looked_up:
        slope, offset = (graph.constant(np.array([[one[name] for one in model.maps]])) for name in ("slope", "offset"))
        scores = graph.add("Add", graph.add("Mul", scores, slope), offset)
    if model.link == "softmax":
        graph.add("Softmax", scores, output="probabilities", axis=1)
    elif model.link == "sigmoid" and looked_up:
        share = _looked_up(graph, model, scores)
        graph.add(
            "Concat", graph.add("Sub", graph.constant(np.float64(1.0)), share), share, output="probabilities", axis=1
        )
    elif model.link == "sigmoid":
        both = graph.add("Concat", graph.add("Neg", scores), scores, axis=1)
        _sigmoid(graph, both, output="probabilities")
    else:
        shares = _looked_up(graph, model, scores) if looked_up else _sigmoid(graph, scores)
        total = graph.add("ReduceSum", shares, graph.constant(np.array([1])), keepdims=1)
        graph.add("Div", shares, total, output="probabilities")


def _sigmoid(graph: _Graph, scores: str, output: str | None = None) -> str:
    """1/(1 + e⁻ᵍ) by its own formula: onnxruntime's operator loses all digits where that is small."""
    odds = graph.add("Exp", graph.add("Neg", scores))
    return graph.add("Reciprocal", graph.add("Add", odds, graph.constant(np.float64(1.0))), output=output)


def _log_odds(graph: _Graph, scores: str, K: int) -> str:
    """Each score minus the logarithm of Σ e^g over the other classes."""
    others = graph.constant(np.where(np.eye(K, dtype=bool), -np.inf, 0.0)[None])
    each = graph.add("Add", graph.add("Unsqueeze", scores, graph.constant(np.array([1]))), others)
    return graph.add("Sub", scores, graph.add("ReduceLogSumExp", each, graph.constant(np.array([2])), keepdims=0))


def _looked_up(graph: _Graph, model: Model, scores: str) -> str:
    """Straight lines between points: the first share, and of each line as much as the score has of its length."""
    columns = []
    for k, points in enumerate(model.maps or []):
        x, p = (np.array(points[name]) for name in ("scores", "shares"))
        score = graph.add("Gather", scores, graph.constant(np.array([k])), axis=1)
        column = graph.add(
            "Add", graph.add("Mul", score, graph.constant(np.float64(0.0))), graph.constant(np.float64(p[0]))
        )
        if len(x) > 1:
            beyond = graph.add(
                "Max", graph.add("Sub", score, graph.constant(x[None, :-1])), graph.constant(np.float64(0.0))
            )
            within = graph.add("Min", beyond, graph.constant(np.diff(x)[None]))
            rise = graph.constant((np.diff(p) / np.diff(x))[:, None])
            column = graph.add("Add", column, graph.add("MatMul", within, rise))
        columns.append(column)
    return graph.add("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]
