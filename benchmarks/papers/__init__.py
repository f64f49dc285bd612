"""Drivers of the papers' benchmarks: public data that the user brings becomes suites that
`benchmarks.run` can run.

Each driver is a function `(source, limit) -> Prepared`: it checks the folder or file, says what is
missing (`PaperDataError`), and returns documents and gold questions.
`python -m benchmarks.papers NAME PATH --out DIR` writes the suite. Formats are those of the
publishers' own releases; no data is in this repository.
"""
