"""The model door: requests in, checked replies and usage out."""
