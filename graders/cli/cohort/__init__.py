"""`cohort`: grades a whole class with Dask. `learners` reads, `ledger` keeps the verdicts, `pages` tells."""
