"""The closed types of tables and columns, and how questions make them."""
