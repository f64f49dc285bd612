"""What is read of files: formats by features."""
