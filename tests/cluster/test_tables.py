"""Tables in partitions: encoded as on one machine, whatever the partitions; what is wrong is named."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import linsep
from here import TablesHere
from linsep.cluster.fitting import PartitionError, learn
from linsep.cluster.tables import encode
from linsep.data.encoding import TableEncoding
from people import people


def same_encoding(found, expected):
    """All but the last digits of means and scales."""
    assert found.columns == expected.columns
    assert (found.levels, list(found.numbers)) == (expected.levels, list(expected.numbers))
    for name, one in expected.numbers.items():
        assert found.numbers[name] == pytest.approx(one, rel=1e-12)
    for name, (words, idf) in expected.words.items():
        assert found.words[name] == (words, pytest.approx(idf))


@pytest.mark.slow
@pytest.mark.parametrize("cuts", [[], [1000], [1, 1, 40, 1600, 2999]])
def test_the_encoding_of_partitions_is_that_of_the_table(cuts):
    table, y = people()
    expected = TableEncoding.fit(pa.Table.from_pandas(table))
    recipe = encode(TablesHere(table, y, cuts))
    same_encoding(recipe.encoding, expected)
    kinds = {column.name: column.kind for column in recipe.encoding.columns}
    assert kinds == {
        "age": "number", "income": "number", "town": "category", "note": "text", "since": "date",
        "amount": "number", "member": "category", "row": "ignored",
    }  # fmt: skip
    assert recipe.encoding.numbers["age"][2]  # gaps that the first partitions do not have
    assert {"(other)", "(missing)"} & set(recipe.encoding.levels["town"])


@pytest.mark.slow
def test_coefficients_are_those_of_one_machine():
    table, y = people()
    tables = TablesHere(table, y, [700, 700, 2000])
    recipe = encode(tables)
    model = learn(linsep.LogisticRegression(tol=1e-8, random_state=0), *tables.parts(recipe))
    X = TableEncoding.fit(pa.Table.from_pandas(table)).transform(pa.Table.from_pandas(table))
    alone = linsep.LogisticRegression(tol=1e-8, random_state=0).fit(X, y)
    reach = np.sqrt(2 * max(model.certificate_.gap, 0)) + np.sqrt(2 * max(alone.certificate_.gap, 0))
    assert np.linalg.norm(model.coef_ - alone.coef_) <= reach + 1e-9


def test_a_type_that_widens_from_partition_to_partition():
    table = pd.DataFrame({"code": [1, 2] * 50 + [3, None] * 50, "town": ["a", "b"] * 100})
    tables = TablesHere(table, np.array(["yes", "no"] * 100), [])
    whole = encode(tables).encoding
    tables.pieces = [
        *TablesHere(table[:100].astype({"code": int}), np.array(["yes", "no"] * 50), []).pieces,
        *TablesHere(table[100:], np.array(["yes", "no"] * 50), []).pieces,
    ]
    same_encoding(encode(tables).encoding, whole)


@pytest.mark.slow
def test_partitions_that_do_not_go_together_are_named():
    table, y = people(300)
    tables = TablesHere(table, y, [100, 200])
    one = tables.pieces[1]
    other = TablesHere(table.rename(columns={"town": "city"}), y, []).pieces[0]
    tables.pieces[1] = other
    with pytest.raises(PartitionError, match="partition 1 has other columns than partition 0: 'city' is in one only"):
        encode(tables)
    tables.pieces[1] = TablesHere(table.assign(town=1.5), y, []).pieces[0]
    with pytest.raises(PartitionError, match="partition 1: column 'town' is double here, string before"):
        encode(tables)
    odd = table["amount"].copy()
    odd[7] = "unknown"
    tables.pieces[1] = TablesHere(table.assign(amount=odd)[:100], y[:100], []).pieces[0]
    with pytest.raises(PartitionError, match=r"partition 0 row 8, column 'amount': 'unknown' is not a number, but"):
        encode(tables)  # pieces know their own names
    tables.pieces[1] = one
    infinite = table["income"].copy()
    infinite[250] = np.inf
    with pytest.raises(PartitionError, match=r"partition 2 row 51, column 'income'.*'inf'"):
        encode(TablesHere(table.assign(income=infinite), y, [100, 200]))


def test_partitions_tell_what_names_their_rows_by_the_rows_and_means_by_what_they_count():
    table, often = (
        pd.DataFrame({"id": [f"p{k:03d}" for k in range(60)], "age": np.arange(60) % 7}),
        np.arange(60) % 3 + 1,
    )
    tables = TablesHere(table, np.array(["yes", "no"] * 30), [20, 41])
    repeated = [piece.frame.take(np.repeat(np.arange(len(piece.y)), often[: len(piece.y)])) for piece in tables.pieces]
    tables.pieces = [replace(p, counted=(p.frame, rows)) for p, rows in zip(tables.pieces, repeated, strict=True)]
    found = encode(tables).encoding
    assert [column.kind for column in found.columns] == ["ignored", "number"]
    assert found.numbers["age"].mean == pytest.approx(np.mean(np.concatenate([rows["age"] for rows in repeated])))
