"""Samplers that act on their force, or on their noise, a step later, by an auxiliary vector: stale,
Langevin dynamics with the gradient of the step before, and carried, Euler's step of the
underdamped equations with the momentum in the auxiliary vector."""

import json
import sys

KIND = sys.argv[1]

for line in sys.stdin:
    q = json.loads(line)
    if q["op"] == "hello":
        claims = {"position": 1, "joint": 1}
        reply = {"name": KIND, "state": 3, "momentum": False, "normals": 1, "batches": 1, "claims": claims}
    elif q["op"] == "step":
        h, d, out = q["h"], q["dim"], []
        p, s = q["forces"][0]["precision"], q["forces"][0]["shift"]
        for (theta, r, kept), (xi,) in zip(q["states"], q["normals"]):
            g = [sum(p[i][j] * theta[j] for j in range(d)) - s[i] for i in range(d)]
            if KIND == "stale":
                moved = [theta[i] - h * kept[i] + (2 * h) ** 0.5 * xi[i] for i in range(d)]
                kept = g
            else:
                c = q["friction"]
                moved = [theta[i] + h * kept[i] for i in range(d)]
                kept = [kept[i] - h * g[i] - h * c * kept[i] + (2 * c * h) ** 0.5 * xi[i] for i in range(d)]
            out.append([moved, r, kept])
        reply = {"states": out}
    else:
        break
    print(json.dumps(reply), flush=True)
