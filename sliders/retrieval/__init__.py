"""Chunks of documents, and what finds them: embeddings, the two-level index, word search, evidence."""
