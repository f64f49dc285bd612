"""Several questions in one call: replies, hints in a question's own words,
and what shares a pass.
"""

from sliders.answer import Answer
from sliders.api import Workspace
from sliders.engine import ask as run
from sliders.llm.testing import FunctionModel
from sliders.retrieval import HashEmbedder

PIECE = "The keeper is {name}. " + "Nothing else was seen that day and the sea was calm. " * 30


def test_answers_come_in_order_and_hints_narrow_their_own_question_only(tmp_path, monkeypatch):
    asked = []

    async def tables(session, needs):
        questions = tuple(need.question for need in needs)
        asked.append((questions, bool(session.question.out_of_scope)))
        return [Answer(q, "answered", None, "") for q in questions]

    def judged(request):
        said = {
            "look_in": ["Part 7 section"],
            "answer_is": ["full name"],
            "answer_is_not": ["nickname"],
        }
        hint = {"question": 1, **said, "rest": "Who keeps it?"}
        columns = [{"question": n, "columns": ["keepers.name"]} for n in (1, 3, 4)]
        tables = [{"name": "keepers", "columns": [{"name": "name"}]}]
        return {"tables": tables, "needs": columns, "hints": [hint], "no_question": [2]}

    monkeypatch.setattr(run, "from_tables", tables)
    text = "# Book\n\n" + "".join(
        f"## Part {n}\n\n{PIECE.format(name=f'Keeper {n}')}\n\n" for n in range(12)
    )
    with Workspace(tmp_path / "w.db", model=FunctionModel(judged), embedder=HashEmbedder()) as ws:
        ws.add_text(text, "book.md")
        returned = "Return the full name, not the nickname."
        questions = [
            f"Who keeps it? Look only in the Part 7 section. {returned}",
            "Hello!",
            "How many keepers are there?",
            f"Who is first? {returned}",
        ]
        answers = ws.ask_many(questions)
    assert [a.question for a in answers] == questions
    assert asked[0] == (tuple(questions[2:]), False)
    assert asked[1] == ((f"Who keeps it? {returned}",), True)
    assert answers[1].workflow == "reply"
