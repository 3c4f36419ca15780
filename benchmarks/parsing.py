"""Speed of the parsers on given words, relative to their encoders alone and to spaCy.

    python -m benchmarks.parsing EWT-DEV.conllu.gz --spacy runs/spacy_peer/model-best

Everything takes turns in one process, with each number of threads.  `--spacy` is a trained
pipeline, such as that of `experiments/spacy_peer.py`; it gets the same words, and the best of
several batch sizes and numbers of processes.  `--parsers` and `--precisions` measure less: with
the accurate parser, all of it takes most of an hour.  With a treebank the table has the accuracy
too, and `python experiments/record_results.py --parsing runs/bench/parsers.json` puts it into the
documents.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import product
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.quick import size
from benchmarks.tables import Measured, show
from benchmarks.text import treebank_sentences
from benchmarks.timing import timings
from syntagma.batches import call_cost_on, token_budget_batches
from syntagma.encoders.cpu.int8 import has_int8
from syntagma.encoders.default import find_download
from syntagma.encoders.named_models import NAMED_MODELS, SHIPPED
from syntagma.encoders.precision import Precision, autocast, fast_bfloat16
from syntagma.parse.decode import DecodingMode
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.adapters import SpacySource, document_of
from syntagma.parse.sources.load import load_parser
from syntagma.tasks.parsing.tree_scores import total_score
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.text.sentence import Parse, Sentence

ENCODER = "nothing: its encoder alone"
OUTPUTS: dict[str, DecodingMode] = {
    "dependencies": "dependencies",
    "with phrases": "separate",
    "as one tree": "joint",
}
"""What a parser finds, and how it decodes for that."""
PRECISIONS: tuple[Precision, ...] = ("bfloat16", "float32", "int8")
TIME_BARS = {
    ("default-parser", "dependencies"): 1.25,
    ("default-parser", "with phrases"): 1.5,
    ("default-parser", "as one tree"): 1.8,
}
"""The longest time that a parser is to take, relative to its encoder alone."""
SPEED_BARS = {
    ("fast-parser", "dependencies", "bfloat16" if fast_bfloat16("cpu") else "int8"): 0.7,
}
"""The lowest speed that a parser is to have in the precision that is fastest here, relative to
spaCy."""
SPACY = "spaCy"
SPACY_BATCHES = (64, 256, 1024)


@dataclass(frozen=True)
class Measurement:
    """What was measured of a parser in one setting.

    Args:
        parser: its name.
        finds: what it finds, a key of :data:`OUTPUTS` or :data:`ENCODER`.
        precision: precision of its numbers.
        threads: number of threads.
        las: labelled attachment score in per cent; ``None`` without gold trees.
        words_per_second: speed in each round, ``[n_rounds]``.
    """

    parser: str
    finds: str
    precision: str
    threads: int
    las: float | None = None
    words_per_second: list[float] = field(default_factory=list)

    @property
    def speed(self) -> float:
        """The median speed in words per second."""
        return statistics.median(self.words_per_second)


@torch.inference_mode()
def encode(parser: JointParser, batches: list[dict[str, Tensor]], precision: Precision) -> None:
    """Run the parser's encoder without the layers on top of it."""
    with autocast(parser.model.device, precision):
        for batch in batches:
            parser.model.encoder(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
            )


def present_parsers() -> list[str]:
    """Return the parsers that ship and whose encoder is on this machine."""
    rows = [NAMED_MODELS[name] for name in SHIPPED]
    return [row.name for row in rows if row.kind == "parser" and find_download(row.encoder)]


def present_precisions() -> list[Precision]:
    """Return the precisions in which this CPU can compute."""
    return [each for each in PRECISIONS if each != "int8" or has_int8()]


class Bench:
    """Measures parsers on the same sentences.

    Args:
        sentences: the sentences.
        gold: their gold parses, or nothing.
        spacy: folder or name of a trained spaCy pipeline; empty for none.
        repeat: number of rounds.
        parsers: names of the parsers.
        precisions: in which they compute.
    """

    def __init__(
        self,
        sentences: list[Sentence],
        gold: Sequence[Parse],
        spacy: str,
        repeat: int,
        *,
        parsers: Sequence[str],
        precisions: Sequence[Precision],
    ) -> None:
        self.sentences = sentences
        self.gold = gold
        self.spacy = SpacySource.load(spacy) if spacy else None
        self.repeat = repeat
        self.parsers, self.precisions = parsers, precisions
        self.n_words = sum(map(len, sentences))

    def las(self, parses: Sequence[Parse]) -> float | None:
        """Return the labelled attachment score of parses, if there are gold trees."""
        return total_score(zip(self.gold, parses, strict=True)).las if self.gold else None

    def calls_of(
        self, name: str, precision: Precision
    ) -> dict[tuple[str, str, str], Callable[[], object]]:
        """Return what is timed of a parser: its encoder alone, and each output that it has."""
        parser = load_parser(name, precision=precision)
        encoded = parser.encoder.encode(self.sentences)
        batches = [
            parser.encoder.collate([encoded[index] for index in batch])
            for batch in token_budget_batches(
                [len(each) + parser.encoder.n_special for each in encoded],
                parser.budget,
                call_cost=call_cost_on("cpu"),
            )
        ]
        calls: dict[tuple[str, str, str], Callable[[], object]] = {
            (name, ENCODER, precision): partial(encode, parser, batches, precision)
        }
        for finds, decoding in OUTPUTS.items():
            if decoding == "dependencies" or parser.model.spans is not None:
                other = load_parser(name, precision=precision, decoding=decoding)
                calls[name, finds, precision] = partial(other.parse, self.sentences)
        return calls

    def spacy_call(self, threads: int) -> Callable[[], object]:
        """Return spaCy's ``pipe`` with the batch size and number of processes that are fastest."""
        assert self.spacy is not None
        pipeline = self.spacy.pipeline

        def run(batch_size: int, n_process: int) -> None:
            documents = (document_of(pipeline.vocab, each) for each in self.sentences)
            for _ in pipeline.pipe(documents, batch_size=batch_size, n_process=n_process):
                pass

        def seconds(setting: tuple[int, int]) -> float:
            start = time.perf_counter()
            run(*setting)
            return time.perf_counter() - start

        return partial(run, *min(product(SPACY_BATCHES, range(1, threads + 1)), key=seconds))

    def measure(self, threads: int) -> list[Measurement]:
        """Measure everything with a number of threads."""
        torch.set_num_threads(threads)
        calls: dict[tuple[str, str, str], Callable[[], object]] = {}
        scores: dict[tuple[str, str, str], float | None] = {}
        if self.spacy is not None:
            key = (SPACY, "dependencies", "float32")
            calls[key] = self.spacy_call(threads)
            scores[key] = self.las(self.spacy.parse_sentences(self.sentences))
        for name, precision in product(self.parsers, self.precisions):
            calls |= self.calls_of(name, precision)
        for key, call in calls.items():
            if key not in scores and key[1] != ENCODER and self.gold:
                scores[key] = self.las(call())  # type: ignore[arg-type]
        seconds = timings({"\t".join(key): call for key, call in calls.items()}, repeat=self.repeat)
        return [
            Measurement(
                *key, threads, scores.get(key), [self.n_words / s for s in seconds["\t".join(key)]]
            )
            for key in calls
        ]


def rows_of(measurements: Sequence[Measurement]) -> list[dict[str, object]]:
    """Return the table: speeds, and each ratio beside its bar."""
    by_key = {(m.parser, m.finds, m.precision, m.threads): m for m in measurements}
    rows = []
    for found in measurements:
        encoder = by_key.get((found.parser, ENCODER, found.precision, found.threads))
        peer = by_key.get((SPACY, "dependencies", "float32", found.threads))
        name = (found.parser, found.finds)
        time_bar = TIME_BARS.get(name)
        speed_bar = SPEED_BARS.get((*name, found.precision)) if peer else None
        rows.append(
            {
                "": f"{Path(found.parser).name}, {found.precision}",
                "finds": found.finds,
                "threads": found.threads,
                "LAS": "" if found.las is None else f"{found.las:.2f}",
                "words/s": Measured(
                    found.speed,
                    lowest=min(found.words_per_second),
                    highest=max(found.words_per_second),
                ),
                "time ÷ encoder": (
                    Measured(encoder.speed / found.speed, at_most=time_bar) if encoder else ""
                ),
                "speed ÷ spaCy": (
                    Measured(found.speed / peer.speed, at_least=speed_bar) if peer else ""
                ),
            }
        )
    return rows


def main(arguments: Sequence[str] = ()) -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("treebank", nargs="?", help="CoNLL-U file; our example text if omitted")
    options.add_argument("--spacy", default="", help="folder of a trained spaCy pipeline")
    options.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options.add_argument("--limit", type=int, default=size(10**9, 20), help="number of sentences")
    options.add_argument("--repeat", type=int, default=size(3, 1), help="number of rounds")
    parsers, precisions = present_parsers(), present_precisions()
    options.add_argument(
        "--parsers",
        nargs="+",
        default=size(parsers, parsers[:1]),
        help="names, or folders of trained parsers",
    )
    options.add_argument("--precisions", nargs="+", choices=precisions, default=precisions)
    chosen = options.parse_args(arguments)
    if chosen.treebank:
        gold = [each.gold for each in read_treebank(chosen.treebank)][: chosen.limit]
        sentences = [each.sentence for each in gold]
    else:
        gold, sentences = [], [each for each in treebank_sentences() if len(each)][: chosen.limit]
    bench = Bench(
        sentences,
        gold,
        chosen.spacy,
        chosen.repeat,
        parsers=chosen.parsers,
        precisions=chosen.precisions,
    )
    before = torch.get_num_threads()
    measurements = [each for threads in chosen.threads for each in bench.measure(threads)]
    torch.set_num_threads(before)
    data = f"{Path(chosen.treebank).name if chosen.treebank else 'example'}"
    path = show(
        "Parsers",
        rows_of(measurements),
        {
            "data": f"{data}, {len(sentences):,} sentences, {bench.n_words:,} words",
            "time_bars": [[*key, bar] for key, bar in TIME_BARS.items()],
            "speed_bars": [[*key, bar] for key, bar in SPEED_BARS.items()],
            "parsers": [asdict(each) for each in measurements],
        },
    )
    print(f"saved to {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
