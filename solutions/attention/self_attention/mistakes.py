MISTAKES = ()
EQUIVALENT: dict[str, str] = {}
