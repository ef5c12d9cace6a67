"""Exact orders of samplers that are written in Python, and draws judged by exact posteriors.

``sampler`` wraps a step, ``certify`` returns what the program finds of it, ``serve`` answers
the program from a script, ``problem`` and ``judge`` are for draws, and ``sample`` makes some.
"""

from hambench._certify import CertificationError, Observable, Row, Rows, certify
from hambench._draws import Judgement, Problem, judge, problem, sample
from hambench._program import HambenchError, program
from hambench._sampler import Force, Sampler, sampler, serve

__all__ = [
    "CertificationError",
    "Force",
    "HambenchError",
    "Judgement",
    "Observable",
    "Problem",
    "Row",
    "Rows",
    "Sampler",
    "certify",
    "judge",
    "problem",
    "program",
    "sample",
    "sampler",
    "serve",
]
__version__ = "0.1.0"
