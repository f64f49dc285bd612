"""Does the pipeline keep what a perfect reader says?
`python -m benchmarks.fidelity --json FILE`.
"""
