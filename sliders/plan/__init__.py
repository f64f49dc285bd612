"""What a question needs, said before anything is done: tasks, hints, queries, orders, costs."""
