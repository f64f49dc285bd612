"""What answers cost in calls and tokens, by stage, with a reader that knows everything."""
