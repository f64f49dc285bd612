"""Chunks of documents, and what finds them: embeddings, the two-level index, BM25, retrieval, selection, evidence."""
