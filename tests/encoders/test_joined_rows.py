"""Sentences as one row have the states that they have in a padded batch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import AutoModel

from syntagma.encoders.cpu.joined_rows import (
    MAX_JOINED,
    can_join,
    is_joined_fast,
    join_rows,
)


def batch(*lengths: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)).long()
    ids = torch.randint(5, 30, mask.shape, generator=generator) * mask
    return ids, mask


def test_pieces_attend_to_their_own_sentence_and_are_counted_in_it():
    ids, mask = batch(3, 1, 2)
    row = join_rows(ids, mask)
    assert row is not None
    assert row.input_ids.tolist() == [ids[mask.bool()].tolist()]
    assert row.position_ids.tolist() == [[0, 1, 2, 0, 0, 1]]
    assert row.mask[0, 0].int().tolist() == [
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 1, 1],
    ]
    states = torch.arange(6.0).view(1, 6, 1)
    assert row.separate(states, ids.shape)[..., 0].tolist() == [[0, 1, 2], [3, 0, 0], [4, 5, 0]]


@pytest.mark.parametrize("implementation", ["sdpa", "syntagma"])
@torch.inference_mode()
def test_states_are_those_of_a_padded_batch(implementation, encoder_folders):
    from syntagma.encoders.attention import use_attention

    model = AutoModel.from_pretrained(encoder_folders["bert"]).eval()
    if implementation == "syntagma":
        use_attention(model)
    assert can_join(model, "cpu")
    ids, mask = batch(7, 2, 5, 1)
    row = join_rows(ids, mask)
    assert row is not None
    joined = model(
        input_ids=row.input_ids, attention_mask=row.mask, position_ids=row.position_ids
    ).last_hidden_state
    padded = model(input_ids=ids, attention_mask=mask).last_hidden_state
    inside = mask.bool()
    torch.testing.assert_close(row.separate(joined, ids.shape)[inside], padded[inside])


def test_batches_stay_as_they_are_where_that_is_faster():
    assert join_rows(*batch(4)) is None
    assert join_rows(*batch(20, 20, 19)) is None, "they have hardly any padding"
    assert join_rows(*batch(MAX_JOINED, 1)) is None
    assert join_rows(*batch(MAX_JOINED - 1, 1)) is not None


@pytest.mark.parametrize(
    ("lengths", "is_one_call"),
    [
        ([30, 12, 9, 22, 5, 17, 40, 8], True),
        ([20, 20, 20], False),
        ([300, *[5] * 38], False),
        ([400, 20, 300], False),
        ([7], False),
        ([], False),
    ],
)
def test_a_paragraph_is_one_call_unless_its_sentences_differ_too_much(lengths, is_one_call):
    assert is_joined_fast(np.array(lengths, np.int64)) is is_one_call


@pytest.mark.parametrize("family", ["roberta", "mpnet", "modernbert"])
def test_other_encoders_and_devices_are_left_alone(family, encoder_folders):
    assert not can_join(AutoModel.from_pretrained(encoder_folders[family]), "cpu")
    assert not can_join(AutoModel.from_pretrained(encoder_folders["bert"]), "cuda")
    eager = AutoModel.from_pretrained(encoder_folders["bert"], attn_implementation="eager")
    assert not can_join(eager, "cpu")


def test_the_parser_gives_the_same_parses(tiny_parser, monkeypatch):
    from syntagma import Sentence, load_parser
    from syntagma.parse import parser as parsers
    from syntagma.parse import scorer

    sentences = [Sentence.from_words(["It"] * n) for n in (3, 9, 1, 20)]
    calls = []
    joined = load_parser(tiny_parser)
    monkeypatch.setattr(
        scorer, "join_rows", lambda *given: calls.append(join_rows(*given)) or calls[-1]
    )
    found = joined.parse(sentences)
    assert [row.input_ids.shape[0] for row in calls] == [1]
    for module in (parsers, scorer):
        monkeypatch.setattr(module, "can_join", lambda *_: False)
    expected = load_parser(tiny_parser).parse(sentences)
    assert len(calls) == 1
    for one, other in zip(found, expected, strict=True):
        assert (one.heads, one.relations, one.upos) == (other.heads, other.relations, other.upos)
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-4)
