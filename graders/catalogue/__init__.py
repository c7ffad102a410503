"""Which katas there are, and what stands in their files: without importing torch."""
