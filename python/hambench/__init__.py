"""Exact orders of samplers that are written in Python, models in Python, and draws judged by exact posteriors.

``sampler`` wraps a step, and ``certify`` returns what the program finds of it; ``model`` wraps a posterior, and
``sample`` makes draws; ``serve`` answers the program from a script; ``problem`` and ``judge`` are for draws.
"""

from hambench._certify import CertificationError, Observable, Row, Rows, certify
from hambench._draws import Judgement, Problem, judge, problem, sample
from hambench._model import Model, model, serve
from hambench._program import HambenchError, program
from hambench._sampler import Force, Sampler, sampler

__all__ = [
    "CertificationError",
    "Force",
    "HambenchError",
    "Judgement",
    "Model",
    "Observable",
    "Problem",
    "Row",
    "Rows",
    "Sampler",
    "certify",
    "judge",
    "model",
    "problem",
    "program",
    "sample",
    "sampler",
    "serve",
]
__version__ = "3.0.0"
