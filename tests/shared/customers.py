"""A table of customers."""

import numpy as np
import pandas as pd


def customers(n=500, seed=0):
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 80, n).astype(float), rng.normal(0.0, 1.0, n)
    town, plan = rng.choice(["Ede", "Ulm", "O'Bath"], n), rng.choice(["basic", "plus"], n)
    score = 0.05 * (age - 45) + income + (town == "Ede") - (plan == "plus") + rng.normal(0.0, 1.0, n)
    age[rng.random(n) < 0.1] = np.nan
    town[rng.random(n) < 0.05] = ""
    kind = np.where(score > 1, "gold", np.where(score > -0.5, "silver", "bronze"))
    frame = pd.DataFrame({"age": age, "income": income, "town": town, "plan": plan})
    return frame.assign(town=frame["town"].replace("", None), bought=np.where(score > 0, "yes", "no"), kind=kind)
