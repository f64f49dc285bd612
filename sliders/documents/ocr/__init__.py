"""Scanned pages and pictures as printed lines (extra `ocr`)."""
