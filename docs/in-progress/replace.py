"""Prepares two stores for `hambench store merge --published`: of the published one the manifests
of the standard profile go, and of the new one those of its parts, since a run of some data sets
leaves manifests of its own. Works on copies: python3 replace.py PUBLISHED NEW"""

import json
import pathlib
import sys

NEW = "standard, 5 splits, seeds from 3301"


def manifests(folder):
    """All manifests of a store, the shortest first: path, profile and study."""
    paths = pathlib.Path(folder, "store", "runs").iterdir()
    for path in sorted(paths, key=lambda path: path.stat().st_size):
        record = json.loads(path.read_text())["record"]
        body = (json.loads(record) if isinstance(record, str) else record)["body"]
        yield path, body["profile"], body["id"]


published, new = sys.argv[1:]
whole = {study: path for path, profile, study in manifests(new) if profile == NEW}
for path, profile, study in manifests(published):
    if profile == "standard, 5 splits" or (profile, study) == ("standard", "starts"):
        print("replaced:", profile, study, "" if study in whole else "(the new run has none)")
        path.unlink()
for path, profile, study in manifests(new):
    if whole.get(study) != path:
        path.unlink()
print(len(whole), "studies of", NEW)
