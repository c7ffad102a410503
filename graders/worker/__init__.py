"""Runs beside the learner's code: knows nothing of ours but this room, since all of it is copied away."""
