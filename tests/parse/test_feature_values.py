"""Features that are learned through their values, which many bundles share."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch.nn.functional import cross_entropy, one_hot

from syntagma.parse.morphology_scorer import MorphologyScorer

CASES, NUMBERS = ("Nom", "Gen", "Dat", "Acc"), ("Sing", "Plur", "Dual")
BUNDLES = ["_", *(f"Case={c}|Number={n}" for c, n in itertools.product(CASES, NUMBERS))]
RARE = BUNDLES.index("Case=Dat|Number=Dual")
WIDTH = len(CASES) + len(NUMBERS)


def word(bundle: int) -> torch.Tensor:
    """A vector from which case and number can be read, ``[1, 1, width]``."""
    case, number = divmod(bundle - 1, len(NUMBERS))
    parts = one_hot(torch.tensor(case), len(CASES)), one_hot(torch.tensor(number), len(NUMBERS))
    return torch.cat(parts).float().reshape(1, 1, WIDTH)


def trained(*, by_value: bool) -> MorphologyScorer:
    """A scorer that saw the rare bundle once in a hundred words."""
    torch.manual_seed(1)
    scorer = MorphologyScorer(WIDTH, 16, n_feats=len(BUNDLES), n_scripts=2)
    if by_value:
        scorer.learn_by_value(BUNDLES)
    gold = torch.tensor([*(bundle for bundle in range(1, 13) if bundle != RARE)] * 9 + [RARE])
    words = torch.cat([word(int(bundle)) for bundle in gold], 1)
    optimizer = torch.optim.Adam(scorer.parameters(), lr=1e-2)
    for _ in range(40):
        feats, _ = scorer(words, words)
        assert feats is not None
        optimizer.zero_grad()
        cross_entropy(feats[0], gold).backward()
        optimizer.step()
    return scorer


def test_a_bundle_that_training_hardly_showed_is_found_by_its_values():
    probability = {}
    for by_value in (False, True):
        feats, _ = trained(by_value=by_value)(word(RARE), word(RARE))
        assert feats is not None
        probability[by_value] = feats[0, 0].softmax(-1)[RARE].item()
    assert probability[True] > 0.3
    assert probability[False] < 0.1


def test_folding_keeps_the_scores_and_leaves_no_other_weights():
    scorer = trained(by_value=True)
    words = torch.randn(2, 5, WIDTH)
    before, _ = scorer(words, words)
    assert "values.scores.weight" in scorer.state_dict()
    assert not any(name.endswith("has") for name in scorer.state_dict())
    scorer.fold_values()
    after, _ = scorer(words, words)
    torch.testing.assert_close(before, after)
    fresh = MorphologyScorer(WIDTH, 16, n_feats=len(BUNDLES), n_scripts=2)
    assert scorer.state_dict().keys() == fresh.state_dict().keys()
    scorer.fold_values()
    again, _ = scorer(words, words)
    torch.testing.assert_close(again, after)


@pytest.mark.parametrize("n_feats", [0, 3])
def test_a_scorer_that_does_not_learn_by_value_is_left_as_it_is(n_feats):
    scorer = MorphologyScorer(4, 8, n_feats=n_feats, n_scripts=2)
    before = {name: weight.clone() for name, weight in scorer.state_dict().items()}
    scorer.fold_values()
    assert all(torch.equal(before[name], weight) for name, weight in scorer.state_dict().items())
