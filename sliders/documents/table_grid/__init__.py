"""Tables found by position: lines, columns and headers of printed text."""
