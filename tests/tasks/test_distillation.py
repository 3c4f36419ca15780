"""Training a reader on a teacher's probabilities."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.models.span_model import SpanModel
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import SpanExample, TeacherAnswers, read_squad
from syntagma.tasks.spans.task import SpanTask
from syntagma.tasks.spans.teacher import add_teacher
from tests.conftest import SENTENCES

PASSAGE = " ".join(SENTENCES[:5])
FIRST, SECOND = PASSAGE.split()[2], PASSAGE.split()[5]
PLACES = [PASSAGE.index(FIRST), PASSAGE.index(SECOND)]
TEACHER = TeacherAnswers(
    starts=tuple(PLACES),
    ends=(PLACES[0] + len(FIRST), PLACES[1] + len(SECOND)),
    probabilities=(0.5, 0.2),
    no_answer=0.3,
)
EXAMPLE = SpanExample("q", PASSAGE, "What?", answers=(FIRST,), answer_starts=(PLACES[0],))


def squad(record: dict[str, object]) -> str:
    """The content of a file with one question."""
    return json.dumps({"data": [{"paragraphs": [{"context": PASSAGE, "qas": [record]}]}]})


def task_of(folder, **head) -> SpanTask:
    model = SpanModel.from_encoder(str(folder), task="spans", head=head)
    return SpanTask(Reader(model, load_tokenizer(str(folder)), precision="float32"))


@pytest.fixture
def task(encoder_folders) -> SpanTask:
    settings = {"max_length": 128, "doc_stride": 16, "max_question_length": 16}
    return task_of(encoder_folders["bert"], **settings, distillation_weight=0.25)


def losses(task: SpanTask, examples) -> torch.Tensor:
    torch.manual_seed(0)
    batch = task.collate(list(task.features(examples)))
    return task.model(**task.predictor.on_device(batch))


def test_probabilities_are_placed_at_the_pieces_of_their_spans(task):
    [window] = task.features([replace(EXAMPLE, teacher=TEACHER)])
    batch = task.collate([window])
    starts, ends = batch["start_targets"][0], batch["end_targets"][0]
    assert float(starts.sum()) == pytest.approx(1)
    assert float(ends.sum()) == pytest.approx(1)
    assert float(starts[0]) == pytest.approx(0.3)
    assert float(ends[0]) == pytest.approx(0.3)
    assert float(starts[window.start]) == pytest.approx(0.5)
    assert float(ends[window.last]) == pytest.approx(0.5)
    for position, begin in zip(starts.nonzero().flatten().tolist()[1:], PLACES, strict=True):
        piece = window.begin + position - window.offset
        assert window.passage.starts[piece] == begin


def test_spans_outside_a_window_count_as_no_answer(encoder_folders):
    task = task_of(encoder_folders["bert"], max_length=32, doc_stride=8, max_question_length=8)
    windows = list(task.features([replace(EXAMPLE, teacher=TEACHER)]))
    assert len(windows) > 2
    last = windows[-1]
    assert last.begin > 0
    assert last.passage.starts[last.begin] > PLACES[1]
    assert float(task.collate([last])["start_targets"][0, 0]) == pytest.approx(1)


def test_the_loss_mixes_gold_and_teacher_by_the_weight(task):
    with torch.no_grad():
        scores = losses(task, [replace(EXAMPLE, teacher=TEACHER)])
    batch = task.collate(list(task.features([replace(EXAMPLE, teacher=TEACHER)])))
    expected = 0.0
    for logits, gold, targets in (
        (scores.start_logits, batch["start_positions"], batch["start_targets"]),
        (scores.end_logits, batch["end_positions"], batch["end_targets"]),
    ):
        allowed = torch.isfinite(logits[0])
        shares = F.log_softmax(logits[0][allowed], dim=-1)
        soft = -(targets[0][allowed] * shares).sum()
        expected += float(0.75 * F.cross_entropy(logits, gold) + 0.25 * soft) / 2
    assert float(scores.loss) == pytest.approx(expected, rel=1e-4)


def test_questions_without_a_teacher_learn_from_the_gold_answer_alone(task):
    task.model.eval()
    taught = replace(EXAMPLE, teacher=TEACHER)
    with torch.no_grad():
        plain = float(losses(task, [EXAMPLE, EXAMPLE]).loss)
        with_teacher = float(losses(task, [taught, taught]).loss)
        mixed = float(losses(task, [EXAMPLE, taught]).loss)
    assert mixed == pytest.approx((plain + with_teacher) / 2, rel=1e-4)
    assert plain != pytest.approx(with_teacher)


def test_gradients_are_finite(task):
    losses(task, [EXAMPLE, replace(EXAMPLE, teacher=TEACHER)]).loss.backward()
    grads = [weight.grad for weight in task.model.parameters() if weight.grad is not None]
    assert grads
    assert all(bool(torch.isfinite(grad).all()) for grad in grads)


def test_a_readers_candidates_become_a_teacher(task, tmp_path):
    data = tmp_path / "data.json"
    data.write_text(squad({"id": "q", "question": "What?"}))
    found = task.predict([SpanExample("q", PASSAGE, "What?")])
    task.write_predictions([EXAMPLE], found, tmp_path / "found.json")
    out = tmp_path / "taught.json"
    out.write_text(json.dumps(add_teacher(data, tmp_path / "found.nbest.json")))
    [example], _ = read_squad(out)
    teacher = example.teacher
    assert teacher is not None
    best = found[0].spans[0]
    assert (teacher.starts[0], teacher.ends[0]) == (best.start, best.end)
    assert sum(teacher.probabilities) + teacher.no_answer == pytest.approx(1, abs=1e-3)
    assert teacher.probabilities[0] == pytest.approx(best.probability, rel=0.05)


def test_candidates_of_other_data_are_rejected(tmp_path):
    data = tmp_path / "data.json"
    data.write_text(squad({"id": "q", "question": "What?"}))
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(InputError, match=r"question 'q': is missing.*syntagma predict READER"):
        add_teacher(data, tmp_path / "other.json")
    (tmp_path / "other.json").write_text(
        '{"q": [{"text": "no such text", "start": 3, "probability": 0.5, "score": 1.0},'
        '{"text": "", "probability": 0.5, "score": 1.0}]}'
    )
    with pytest.raises(InputError, match="of this passage"):
        add_teacher(data, tmp_path / "other.json")


@pytest.mark.parametrize(
    "change",
    [
        {"starts": [1]},
        {"ends": [3, 10**6]},
        {"probabilities": [0.9, 0.9]},
        {"no_answer": 1},
        {"starts": [True, 2]},
        {"probabilities": [float("nan"), 0.2]},
    ],
)
def test_a_broken_teacher_is_rejected(change, tmp_path):
    row = {name: list(np.asarray(getattr(TEACHER, name)).tolist()) for name in
           ("starts", "ends", "probabilities")} | {"no_answer": 0.3}  # fmt: skip
    record = {"id": "q", "question": "What?", "teacher": row | change}
    path = tmp_path / "data.json"
    path.write_text(squad(record))
    with pytest.raises(InputError, match="teacher"):
        read_squad(path)


def test_the_weight_must_be_a_share(encoder_folders):
    with pytest.raises(InputError, match="distillation_weight must be from 0 to 1, got 2"):
        SpanModel.from_encoder(
            str(encoder_folders["bert"]), task="spans", head={"distillation_weight": 2}
        )
