"""Can an answer be trusted?
`python -m benchmarks.trust --json FILE [--sliders PATH]`; see README.md.
"""
