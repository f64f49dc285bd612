"""The child process that serves the embedded model; run as a script with one JSON
argument, never imported.

It writes one line of JSON with its address to its standard output, then waits for its standard
input to close: when the parent ends, in whatever way, the pipe closes and the server is gone.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Serves until standard input closes."""
    options = json.loads(sys.argv[1])
    # The native code writes to the descriptors themselves, so the answer needs one of its own.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options["path"]
    params.port = 0
    params.verbosity = -1
    params.n_parallel = 1  # a second slot gains nothing on few cores and shares no prefix
    params.n_ctx = options["n_ctx"]
    params.cpuparams.n_threads = options["threads"]
    params.cpuparams_batch.n_threads = options["threads"]
    params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_MOD]
    server = xllamacpp.Server(params)
    answer.write(json.dumps({"address": server.listening_address}) + "\n")
    answer.flush()
    sys.stdin.buffer.read()
    os._exit(0)  # the native threads need no orderly end, and a slow one would outlive the parent


if __name__ == "__main__":
    main()
