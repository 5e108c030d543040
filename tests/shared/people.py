"""A table with columns of every kind, gaps among them, and labels that follow from it."""

import numpy as np
import pandas as pd


def people(n=3000, seed=0):
    """Return such a table and its labels; rare towns and the first gaps come late in it."""
    rng = np.random.default_rng(seed)
    age, income = rng.uniform(18, 90, n).round(), rng.lognormal(10, 0.5, n)
    towns = np.where(
        rng.random(n) < 0.002, "Lagos", rng.choice(["Ede", "Ulm", "Pau", "Ath"], n, p=[0.4, 0.3, 0.2, 0.1])
    )
    words = rng.choice(["old", "new", "red", "big", "far", "low"], (n, 4))
    late = np.arange(n) > n // 2
    table = pd.DataFrame(
        {
            "age": np.where(late & (rng.random(n) < 0.1), np.nan, age),
            "income": income,
            "town": np.where(late & (rng.random(n) < 0.05), None, towns),
            "note": [" ".join(row) for row in words],
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "amount": [f"{value:.2f} EUR".replace(".", ",") for value in rng.uniform(1, 999, n)],
            "member": rng.random(n) < 0.4,
            "row": np.arange(n),
        }
    )
    score = (age - 50) / 20 + (towns == "Ulm") - (words == "red").sum(1) * 0.5 + rng.logistic(size=n)
    return table, np.where(score > 0, "yes", "no")
