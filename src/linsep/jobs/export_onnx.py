"""A model as an ONNX graph: one input a column (or one matrix), the label and the probabilities out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..data.encoding import MatrixEncoding, from_dict
from ..data.sources import DataError
from .terms import Category, Model, model_terms

__all__ = ["to_onnx"]

#: What the graph needs at the least.
OPSET, ML_OPSET = 18, 3


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

    def input(self, name: str, kind: str, width: int = 1) -> str:
        kinds = {"number": self.onnx.TensorProto.DOUBLE, "text": self.onnx.TensorProto.STRING}
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kinds[kind], ["rows", width]))
        return name


def to_onnx(found: Any) -> bytes:
    """Return a serialised ONNX model in double precision.

    Its inputs are called as the columns and are of shape (rows, 1): doubles with NaN for missing numbers, text with ""
    for missing categories. A model of LIBSVM text or NPZ has one input, X. Its outputs are ``label`` and, where the
    model has them, ``probabilities``.

    Parameters
    ----------
    found : ModelFile
    """
    model = model_terms(found)
    if model.texts:
        raise DataError(
            f"column {model.texts[0].name!r} is text, whose words ONNX cannot tell as linsep does; use --to python"
        )
    if model.dates:
        raise DataError(f"column {model.dates[0]!r} is a date, which ONNX does not know; use --to python")
    graph = _Graph()
    if isinstance(from_dict(found.encoding), MatrixEncoding):
        X = graph.input("X", "number", len(model.numbers))
        parts = [graph.add("MatMul", X, graph.constant(np.array([weights for _, weights in model.products])))]
    else:
        parts = [*_number_scores(graph, model), *(_category_score(graph, one) for one in model.categories)]
    scores = graph.constant(np.array([model.intercept]))
    for part in parts:
        scores = graph.add("Add", scores, part)
    return _finished(graph, model, scores)


def _number_scores(graph: _Graph, model: Model) -> list[str]:
    """Scores of standardised numbers and their products, and of being missing."""
    if not model.numbers:
        return []
    columns = [graph.input(number.name, "number") for number in model.numbers]
    raw = graph.add("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]
    mean = graph.constant(np.array([[number.mean for number in model.numbers]]))
    scale = graph.constant(np.array([[number.scale for number in model.numbers]]))
    missing = graph.add("IsNaN", raw)
    z = graph.add(
        "Where", missing, graph.constant(np.float64(0.0)), graph.add("Div", graph.add("Sub", raw, mean), scale)
    )
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


def _product(graph: _Graph, z: str, powers: dict[int, int]) -> str:
    places = [j for j, power in powers.items() for _ in range(power)]
    found = graph.add("Gather", z, graph.constant(np.array([places[0]])), axis=1)
    for j in places[1:]:
        found = graph.add("Mul", found, graph.add("Gather", z, graph.constant(np.array([j])), axis=1))
    return found


def _category_score(graph: _Graph, category: Category) -> str:
    """Look the level up in a table of weights: unknown levels come first, then missing, then the known ones."""
    values = graph.input(category.name, "text")
    keys, places = ["", *category.levels], list(range(1, len(category.levels) + 2))
    settings: dict[str, Any] = dict(keys_strings=keys, values_int64s=places, default_int64=0)
    code = graph.add("LabelEncoder", values, domain="ai.onnx.ml", **settings)
    flat = graph.add("Reshape", code, graph.constant(np.array([-1])))
    table: NDArray[np.float64] = np.array([category.other, category.missing, *category.levels.values()])
    return graph.add("Gather", graph.constant(table), flat, axis=0)


def _finished(graph: _Graph, model: Model, scores: str) -> bytes:
    onnx = graph.onnx
    labels = np.asarray(model.classes)
    labels = labels.astype(np.int64) if labels.dtype.kind in "bi" else labels
    if len(model.classes) == 2:
        threshold = graph.constant(np.float64(model.threshold))
        above = graph.add("Reshape", graph.add("GreaterOrEqual", scores, threshold), graph.constant(np.array([-1])))
        winner = graph.add("Cast", above, to=onnx.TensorProto.INT64)
    else:
        winner = graph.add("ArgMax", scores, axis=1, keepdims=0)
    graph.add("Gather", graph.constant(labels), winner, output="label", axis=0)
    kinds = {"i": onnx.TensorProto.INT64, "f": onnx.TensorProto.DOUBLE}
    outputs = [
        onnx.helper.make_tensor_value_info("label", kinds.get(labels.dtype.kind, onnx.TensorProto.STRING), ["rows"])
    ]
    if model.link is not None:
        _probabilities(graph, model, scores)
        shape = ["rows", len(model.classes)]
        outputs.append(onnx.helper.make_tensor_value_info("probabilities", onnx.TensorProto.DOUBLE, shape))
    made = onnx.helper.make_graph(graph.nodes, "linsep", graph.inputs, outputs, graph.constants)
    opsets = [onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    document = onnx.helper.make_model(
        made, opset_imports=opsets, ir_version=9, producer_name="linsep", producer_version=__version__
    )
    onnx.checker.check_model(document)
    return bytes(document.SerializeToString())


def _probabilities(graph: _Graph, model: Model, scores: str) -> None:
    if model.link == "softmax":
        graph.add("Softmax", scores, output="probabilities", axis=1)
    elif model.link == "sigmoid":
        both = graph.add("Concat", graph.add("Neg", scores), scores, axis=1)
        graph.add("Sigmoid", both, output="probabilities")
    else:
        shares = graph.add("Sigmoid", scores)
        total = graph.add("ReduceSum", shares, graph.constant(np.array([1])), keepdims=1)
        graph.add("Div", shares, total, output="probabilities")
