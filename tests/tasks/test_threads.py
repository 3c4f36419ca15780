"""Predictors shared by threads: each call returns the same as without other threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from syntagma.models.observe import observe
from syntagma.models.turns import turns_of
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.load import load_source
from syntagma.reprs import full_repr
from syntagma.syntax.tokenizer import SyntaxTokenizer
from syntagma.tasks import find_task
from syntagma.text.alignment import cut
from tests.builders import experiment

GUIDES = {"ancestor_attention": {}, "tree_distance": {}, "pos_embedding": {}}
ONE_GUIDE = {"tree_distance": {}}
N_THREADS, N_CALLS = 8, 96
QUICK = [("spans", GUIDES), ("parsing", {})]
SLOW = [
    ("spans", {}), ("choice", GUIDES), ("pairs", ONE_GUIDE), ("typing", ONE_GUIDE),
    ("relations", ONE_GUIDE), ("open_qa", ONE_GUIDE), ("translation", ONE_GUIDE),
]  # fmt: skip
CASES = [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]


def concurrently(function, n_items, n_calls=N_CALLS):
    """Call a function for the items in turn, in many threads; return the results in order."""
    barrier = threading.Barrier(N_THREADS)

    def call(number):
        if number < N_THREADS:
            barrier.wait()
        return function(number % n_items)

    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(call, range(n_calls)))


@pytest.mark.parametrize(("name", "guides"), CASES, ids=lambda value: str(value)[:20])
def test_a_shared_predictor_gives_the_results_of_one_thread(name, guides, tiny_encoder, tmp_path):
    task_class = find_task(name)
    path = task_class.sample.write(tmp_path, 1)
    changes = {} if name == "parsing" else {"guides": guides}
    head = {"head": task_class.sample.head} if task_class.sample.head else {}
    encoder = "scratch" if name == "translation" else str(tiny_encoder)
    settings = experiment(name, path, encoder, **changes, **head)
    examples = task_class.read(path)[:6]
    torch.manual_seed(0)
    task = task_class.new(settings, examples)
    task.model.eval()
    texts = getattr(getattr(task, "predictor", None), "texts", None)
    if texts is not None and texts.cache is not None:
        texts.cache = ParseCache(texts.cache.source, group=1)
    parts = [examples[number : number + 2] for number in range(len(examples))]
    alone = [task.predict(part) for part in parts]
    n_calls = N_CALLS if (name, guides) in QUICK else 3 * N_CALLS
    found = concurrently(lambda number: task.predict(parts[number]), len(parts), n_calls)
    for number, prediction in enumerate(found):
        assert full_repr(prediction) == full_repr(alone[number % len(parts)])


def test_a_shared_cache_keeps_the_parses_that_a_thread_waits_for(tmp_path):
    cache = ParseCache(load_source("linear"), group=1)
    texts = [[f"The ferry left pier {n}.", f"Rope {n} broke."] for n in range(10)]
    alone = [ParseCache(load_source("linear")).parsed(some) for some in texts]

    def ask(number):
        found = cache.parsed(texts[number])
        cache.forget()
        return [parsed.heads.tolist() for parsed in found]

    found = concurrently(ask, len(texts))
    for number, heads in enumerate(found):
        assert heads == [parsed.heads.tolist() for parsed in alone[number % len(texts)]]


def test_a_shared_tokenizer_is_not_changed_while_it_is_used(tiny_encoder):
    tokenizer = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear").tokenizer
    texts = [[f"The ferry left pier {n} at dawn. " * 40] * 8 for n in range(8)]
    alone = [[each.ids.tolist() for each in cut(tokenizer, some)] for some in texts]
    backend = tokenizer.backend_tokenizer
    backend.enable_truncation(4)
    backend.enable_padding(length=4)
    found = concurrently(
        lambda n: [each.ids.tolist() for each in cut(tokenizer, texts[n])], len(texts)
    )
    assert all(ids == alone[number % len(texts)] for number, ids in enumerate(found))


def test_observing_a_model_records_only_the_same_thread(tiny_encoder):
    task_class = find_task("spans")
    tokenizer = SyntaxTokenizer.from_pretrained(tiny_encoder, parser="linear")
    model = task_class.model_class.from_encoder(str(tiny_encoder), guides={}).eval()
    batches = [dict(tokenizer(["rope " * (n + 1)])) for n in range(5)]
    keep = {"input_ids", "attention_mask", "token_type_ids"}
    batches = [{key: value for key, value in b.items() if key in keep} for b in batches]
    with torch.inference_mode():
        states = [model.encode(**batch).last_hidden_state for batch in batches]
    weights = [observe(model, batch).layers for batch in batches]

    def ask(number):
        with torch.inference_mode():
            if number % 2:
                pairs = zip(observe(model, batches[number]).layers, weights[number], strict=True)
                return all(torch.equal(one, other) for one, other in pairs)
            return torch.equal(model.encode(**batches[number]).last_hidden_state, states[number])

    assert all(concurrently(ask, len(batches)))


def test_a_pass_with_hooks_runs_alone_and_others_run_together():
    turns = turns_of(torch.nn.Linear(1, 1))
    inside, log = threading.Barrier(2), []

    def plain():
        with turns.together():
            inside.wait(20)  # Both must be inside at once.
            log.append("plain")

    threads = [threading.Thread(target=plain) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log == ["plain", "plain"]
    entered = threading.Event()
    with turns.alone(), turns.alone(), turns.together():
        other = threading.Thread(target=lambda: [turns.together().__enter__(), entered.set()])
        other.start()
        assert not entered.wait(0.1)
    assert entered.wait(20)
    other.join()
