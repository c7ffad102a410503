"""The mock interview: `sitting` begins or resumes one, `room` holds it, `record` says what its events come to."""
