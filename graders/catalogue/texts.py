"""What an interviewer says about a kata, and its hints. They are for a terminal: formulas are written in Unicode."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace
from pathlib import Path

import frontmatter

from graders.catalogue.katas import RESTORE, Kata
from graders.faults import UsageError

SHARED = Path("katas/interview.md")  # the questions that katas share
HINTS = ("A nudge", "The idea", "Nearly the code")
FOLDED = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
FOLD = re.compile(r"</?details>\n|<summary>.*?</summary>\n\n?")
FIRST, THEN = "Write this first", "Then make it robust"  # the headings that end a statement's front page
COMMENT = re.compile(r"\n?<!--.*?-->", re.DOTALL)
FIGURE = re.compile(r"<!-- = (.*?) -->")  # behind a figure: the Python that gives it again
CODE_OR_FORMULA = re.compile(r"```.*?```|`[^`\n]*`|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\n]+)\$", re.DOTALL)
KIND = re.compile(r"<!-- kind:\s+(.*?)\s+-->\n*")
MARK = re.compile(r"\s+\|\s+|\s*\n\s*")  # between phrasings, or kinds
ALSO = re.compile(r"<!-- also:\s+(.*?)\s+-->\n*", re.DOTALL)
TELLS = re.compile(r"<!-- tells:\s+(.*?)\s+-->\n*", re.DOTALL)
WITH = re.compile(r"<!-- with:\s+(.*?)\s+-->\n*", re.DOTALL)
AWAY = re.compile(r"<!-- gives away:\s+(\S+)\s+-->\n*")
SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z√Σ∂`(])")
PROSE, SHORT = re.compile(r"[\w(√Σ∂−*]|`[^`]"), 20  # a sentence that is shorter belongs to the next one
USUAL = re.compile(r"<!-- (usual) -->\n*")
CHAIN = re.compile(r"<!-- kata:\s+(\S+)\s+-->\n*")
TWIST, ANSWER = "Twist", "Model answer"
CONTRACT = re.compile(r"^- ([a-z ]+): (.+(?:\n  .+)*)$", re.MULTILINE)
BLOCK = re.compile(r"```python\n(?!>>>)(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Question:
    """The question is text, its answer Markdown; the phrasings are other words in which people ask it.

    Its kinds are what it has in common with questions about other katas: their phrasings stand in katas/interview.md.
    A usual one is of such kinds alone as can be asked of any kata, which tells nothing of who asks. The words of a kind
    tell that it is asked for, and others go with these. The answer gives some katas away, which may come next.
    """

    question: str
    answer: str
    phrasings: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    usual: bool = False
    words: tuple[str, str] = ("", "")
    gives_away: tuple[str, ...] = ()

    @property
    def points(self) -> list[str]:
        """The sentences of its answer, with the code and the lists that follow them."""
        made: list[str] = []
        for block in re.split(r"\n\s*\n", self.answer):
            if made and not PROSE.match(block):
                made[-1] += f"\n\n{block}"
                continue
            for sentence in SENTENCE.split(" ".join(block.split())):
                if made and len(made[-1]) < SHORT:
                    made[-1] += f" {sentence}"
                else:
                    made.append(sentence)
        return made


@dataclass(frozen=True)
class Twist:
    """A change of the requirement, as the interviewer says it, and what to answer in words; both are Markdown.

    Where another kata is the changed requirement, `kata` is its name.
    """

    words: str
    answer: str
    kata: str = ""

    @property
    def question(self) -> Question:
        """The entry as a question to be answered in words."""
        return Question(" ".join(self.words.split()), self.answer)


def text_of(kata: Kata) -> str:
    """The statement, as Markdown, without its front matter and the comments for authors. Raises: UsageError."""
    return COMMENT.sub("", frontmatter.loads(read(kata, kata.statement)).content)


def front_of(text: str) -> str:
    """A statement's front page: what stands before the first fold."""
    return text.partition("<details>")[0].rstrip() + "\n"


def unfolded(text: str) -> str:
    """The text for where nothing can be folded."""
    return FOLD.sub("", text)


def hints(kata: Kata) -> list[str]:
    """From a nudge to nearly the code. Raises: UsageError."""
    path = kata.solutions / "hints.md"
    found = sections(read(kata, path), "## ")
    return [part(kata, path, found, heading) for heading in HINTS]


def prompt(kata: Kata) -> str:
    """The task as an interviewer puts it, with details left out. Raises: UsageError."""
    return part(kata, interview_file(kata), sections(read(kata, interview_file(kata)), "## "), "Prompt")


def clarifying(kata: Kata) -> list[Question]:
    """What a good candidate asks about those details. Raises: UsageError."""
    path = interview_file(kata)
    text = part(kata, path, sections(read(kata, path), "## "), "Clarifying questions")
    own, known = questions(kata, path, list(sections(text, "### ").items())), shared(kata)
    unknown = sorted({kind for one in own for kind in one.kinds} - known.keys())
    if unknown:
        which = ", ".join(unknown)
        raise UsageError(f"{path.relative_to(kata.root)} names kinds that {SHARED} lacks: {which}{RESTORE}")
    return [
        replace(
            one,
            phrasings=one.phrasings + tuple(text for kind in one.kinds for text in known[kind].phrasings),
            usual=bool(one.kinds) and all(known[kind].usual for kind in one.kinds),
        )
        for one in own
    ]


def general(kata: Kata) -> list[Question]:
    """What people ask about any kata, without the kinds that its own questions answer. Raises: UsageError."""
    own, said = {kind for one in clarifying(kata) for kind in one.kinds}, contract(kata)
    known = {kind: replace(one, answer=said.get(kind, one.answer)) for kind, one in shared(kata).items()}
    return [one for kind, one in known.items() if one.answer and kind not in own]


def contract(kata: Kata) -> dict[str, str]:
    """Kind of question -> what its page says to it in a line, where no question of its own does. Raises: UsageError."""
    path = interview_file(kata)
    lines = CONTRACT.findall(sections(read(kata, path), "## ").get("Contract", ""))
    return {kind: " ".join(words.split()) for kind, words in lines}


def signature_block(kata: Kata) -> str:
    """The code at the top of the statement, whose comments say what comes in and goes out. Raises: UsageError."""
    found = BLOCK.search(text_of(kata))
    return found[1] if found else ""


def shared(kata: Kata) -> dict[str, Question]:
    """Kind -> how people ask it; question and answer are empty where only katas have them. Raises: UsageError.

    Where there is a question and no answer, each kata has one.
    """
    path = kata.root / SHARED
    found = sections(read(kata, path), "## ") if path.exists() else {}
    made = {}
    for kind, text in found.items():
        usual, rest = taken(USUAL, text)
        tells, rest = taken(TELLS, rest)
        more, rest = taken(WITH, rest)
        phrasings, rest = taken(ALSO, rest)
        (asked, answer), *_ = [*sections(rest, "### ").items(), ("", "")]
        made[kind] = Question(
            asked, answer, phrasings, (kind,), bool(usual) or bool(answer), (" ".join(tells), " ".join(more))
        )
    return made


def follow_ups(kata: Kata) -> list[Question]:
    """What is asked once the code is there. Raises: UsageError."""
    path = kata.folder / "follow_up.md"
    return questions(kata, path, [(plain(question), answer) for question, answer in FOLDED.findall(read(kata, path))])


def twist(kata: Kata) -> Twist | None:
    """The change of the requirement that comes in the end; None where the page has none. Raises: UsageError."""
    path = interview_file(kata)
    found = sections(read(kata, path), "## ")
    if TWIST not in found:
        return None
    names, rest = taken(CHAIN, part(kata, path, found, TWIST))
    words = rest.partition(f"### {ANSWER}")[0].strip()
    if not words:
        raise UsageError(f"{path.relative_to(kata.root)} should say what changes under {TWIST!r}{RESTORE}")
    return Twist(words, part(kata, path, sections(rest, "### "), ANSWER), *names)


def check(kata: Kata) -> None:
    """Raises: UsageError where an interview about the kata would lack something."""
    prompt(kata), general(kata), follow_ups(kata), hints(kata), twist(kata)


def interview_file(kata: Kata) -> Path:
    return kata.folder / "interview.md"


def read(kata: Kata, path: Path) -> str:
    """A text of the kata without how its figures are calculated. Raises: UsageError."""
    try:
        return FIGURE.sub("", path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path.relative_to(kata.root)} is missing{RESTORE}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.relative_to(kata.root)} cannot be read ({error}){RESTORE}") from None


def part(kata: Kata, path: Path, found: dict[str, str], heading: str) -> str:
    if not found.get(heading):
        raise UsageError(f"{path.relative_to(kata.root)} should say something under {heading!r}{RESTORE}")
    return found[heading]


def questions(kata: Kata, path: Path, pairs: list[tuple[str, str]]) -> list[Question]:
    made = []
    for question, answer in pairs:
        kinds, rest = taken(KIND, answer.strip())
        phrasings, rest = taken(ALSO, rest)
        away, rest = taken(AWAY, rest)
        made.append(Question(re.sub(r"\\(\W)", r"\1", question).strip(), rest, phrasings, kinds, gives_away=away))
    if not made or not all(one.question and one.answer for one in made):
        raise UsageError(f"{path.relative_to(kata.root)} should have questions, each with its answer{RESTORE}")
    return made


def taken(comment: re.Pattern[str], text: str) -> tuple[tuple[str, ...], str]:
    """What a comment at the beginning lists, and the text behind it."""
    found = comment.match(text)
    return (tuple(filter(None, MARK.split(found[1]))), text[found.end() :].strip()) if found else ((), text)


def sections(text: str, mark: str) -> dict[str, str]:
    """Heading -> what stands below it; a heading starts with `mark`, and not inside of code."""
    found: dict[str, str] = {}
    heading, code = "", False
    for line in text.splitlines():
        code ^= line.startswith("```")
        if line.startswith(mark) and not code:
            heading = line.removeprefix(mark).strip()
            found[heading] = ""
        elif heading:
            found[heading] += line + "\n"
    return {heading: body.strip() for heading, body in found.items()}


def plain(summary: str) -> str:
    """The text of a <summary>."""
    text = re.sub(r"</?code>", "`", " ".join(summary.split()))
    return html.unescape(re.sub(r"<[^>]*>", "", text))
