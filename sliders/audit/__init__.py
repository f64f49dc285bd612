"""What a workspace can be asked about itself: why, differences, decisions, checks, exports and the audit page."""
