"""The engine: one question through its stages, and what questions share. It alone calls the other rooms."""
