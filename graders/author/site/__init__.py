"""`site`: the pages of the katas, made of their statements by MkDocs; no solution, mistake or hint is on them."""
