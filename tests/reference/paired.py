"""Writes paired.json: what scipy says of paired samples, for the test of src/stats/paired.rs.

    python3 -m venv v && v/bin/pip install scipy && v/bin/python tests/reference/paired.py > tests/reference/paired.json
"""

import json

import numpy as np
from scipy import stats

random = np.random.default_rng(20240501)
cases = []
for n in (2, 3, 4, 5, 8, 12, 25, 40, 100):
    for effect, spread in ((0.0, 1.0), (0.3, 1.0), (0.02, 0.01), (-5.0, 0.5), (1e-6, 1e-3)):
        # Six decimals, so that the text of the file is the very number that is tested.
        differences = [float(x) for x in np.round(random.normal(effect, spread, n), 6)]
        test = stats.ttest_1samp(differences, 0.0)
        low, high = test.confidence_interval(0.95)
        cases.append({"differences": differences, "mean": float(np.mean(differences)), "low": low, "high": high, "p": test.pvalue})

families = []
for n in (1, 2, 5, 16):
    p = [float(x) for x in np.round(random.beta(0.4, 2.0, n), 6)]
    families.append({"p": p})
families.append({"p": [0.01, 0.01, 0.03, 0.005, 1.0]})


def holm(p):
    """Holm (1979), by its definition; scipy has no function for it."""
    order = np.argsort(p, kind="stable")
    adjusted, largest = [0.0] * len(p), 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - place) * p[index]))
        adjusted[index] = float(largest)
    return adjusted


for family in families:
    family["holm"] = holm(family["p"])

print(json.dumps({"scipy": __import__("scipy").__version__, "paired": cases, "holm": families}, indent=1, default=float))
