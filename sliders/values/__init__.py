"""Printed words to typed values: folding, numbers, dates, units, names. No list of natural-language words stands elsewhere."""
