"""The engine that judges katas, and its command line; it names no kata."""
