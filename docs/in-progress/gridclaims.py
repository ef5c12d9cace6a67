"""The claims that read methods, integration-length or friction: their verdicts by the five splits
and by split 0 of the paper's full grid.

    python3 gridclaims.py docs/results/claims.json grid.json > grid.csv
"""
import csv, json, sys

def read(path):
    d = json.load(open(path))
    return {c["id"]: c for c in (d if isinstance(d, list) else d["claims"])}

ids = ("leapfrog-competes bottleneck-networks inner-fan sghmc-correction second-order-alike "
       "mt3-full-batch batch-size all-converge friction-reasonable friction-range").split()
five, grid = read(sys.argv[1]), read(sys.argv[2])
w = csv.writer(sys.stdout, lineterminator="\n")
w.writerow("claim,verdict_five_splits,summary_five_splits,rows_five_splits,verdict_grid,summary_grid,rows_grid".split(","))
for i in ids:
    a, b = five[i], grid[i]
    w.writerow([i, a["verdict"], a["summary"], a["rows_read"], b["verdict"], b["summary"], b["rows_read"]])
