"""The mock interview: `session` begins or resumes one, `interview` holds it, `record` says what its events come to."""
