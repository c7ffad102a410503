"""Known wrong answers to mini_gpt."""

from graders.kata import Mistake

MISTAKES = (
    # TODO(author): fifteen to twenty-five, each the smallest edit of the reference:
    # Mistake("its_name", "what is wrong; what to do", {"text of the reference": "what stands there instead"}),
    # Mistake("its_name", "what costs too much; what to do", {…}, slow=True),
)

# Mutant of the reference, as `prove` prints it -> why it changes nothing that the contract speaks of.
EQUIVALENT: dict[str, str] = {}
