"""`%%kata` in Jupyter: a front door of its own."""
