"""What the planner's benchmarks share: labelled questions, their retrieved segments, scores."""
