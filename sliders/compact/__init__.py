"""The compact dialect: how a small model is asked, and the embedded model with its server and its file."""
