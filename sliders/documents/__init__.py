"""Documents: files become text with pages, headings and tables whose rows can be read alone."""
