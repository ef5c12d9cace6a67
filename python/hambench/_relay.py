"""Joins the program to a sampler or a model that lives in the process which started the program."""

from __future__ import annotations

import socket
import sys


def main(port: str, token: str) -> None:
    """Passes each question on and its answer back: one line each, so that no thread has to wait for either side."""
    with socket.create_connection(("127.0.0.1", int(port))) as link, link.makefile("rb") as answers:
        link.sendall(token.encode() + b"\n")
        for question in sys.stdin.buffer:
            link.sendall(question)
            answer = answers.readline()
            if not answer:  # to "bye", or the process has ended
                return
            sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
