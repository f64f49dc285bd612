"""SQL over documents before anything runs: parsing, conditions, orders, costs and the explained plan."""
