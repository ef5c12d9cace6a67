"""Counts how many 99 % intervals of one run cover the means of its repetition, as decisions.md has
it ("What is run again"): python3 repeat.py FIRST.csv SECOND.csv, both exports of the studies
methods, integration-length and friction."""

import collections
import csv
import math
import statistics
import sys

SAME = ("dataset", "integrator", "nl", "friction", "scheme", "batch", "h", "samples")
QUANTILE = 4.604095  # Student's, 4 degrees of freedom, 0.995


def cells(path):
    """Distances by split of the cells that differ in split and seed alone; a cell that several
    studies share counts once."""
    groups = collections.defaultdict(dict)
    with open(path, newline="") as lines:
        for row in csv.DictReader(lines):
            distance = math.nan if row["diverged"] == "true" else float(row["ks"])
            groups[tuple(row[name] for name in SAME)][row["split"]] = distance
    return groups


first, second = (cells(path) for path in sys.argv[1:])
count = collections.defaultdict(lambda: [0, 0])
for key in first.keys() & second.keys():
    old, new = list(first[key].values()), list(second[key].values())
    if len(old) != 5 or len(new) != 5 or any(map(math.isnan, old + new)):
        continue
    reach = QUANTILE * statistics.stdev(old) / math.sqrt(5)
    covers = abs(statistics.mean(new) - statistics.mean(old)) <= reach
    for group in ("all", key[0]):
        count[group][0] += covers
        count[group][1] += 1
for group, (covered, of) in sorted(count.items()):
    print(f"{group}: {covered} of {of}, {100 * covered / of:.1f} %")
