"""An interview by a friend: `page` is what the friend reads and ticks, `sheet` its scores as a short code, `talk` the
candidate's terminal, which keeps the clock and grades.
"""
