"""What is sat at the terminal against a clock: all that the interview and debug rounds share."""
