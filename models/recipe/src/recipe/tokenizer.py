"""Trains the byte-level BPE tokenizer and writes its files into the model's folder.

    python -m recipe.tokenizer [--squad FILE]

Design: digits and other number signs are single tokens, so numbers are copied digit by digit. A space sticks to a
following lower-case word, never to a capital: a name then has the same tokens in the middle of a passage and at the
start of an answer, and copying it needs no translation. The pattern has no look-around, which keeps it portable.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from functools import cache
from pathlib import Path
from typing import Iterator

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from .examples import FIXED_TOKENS, SPECIAL_TOKENS
from .paths import BASE, DATA

TEMPLATE = DATA / "chat_template.jinja"
PATTERN = r" ?\p{Ll}+|\p{Lu}[\p{L}\p{M}]*|[\p{L}\p{M}]+|\p{N}|[^\s\p{L}\p{M}\p{N}]+|\s"
VOCABULARY_SIZE = 4096


def generated_text(chats: int) -> Iterator[str]:
    from .tasks import Tasks

    tasks = Tasks(random.Random(5))
    for _ in range(chats):
        for role, text in tasks.chat().messages:
            yield f"{role}\n{text}"


def squad_text(path: str, every: int = 6) -> Iterator[str]:
    """Part of SQuAD's paragraphs and questions, so that real words get their tokens too."""
    with gzip.open(path, "rt") as file:
        for number, line in enumerate(file):
            if number % every == 0:
                row = json.loads(line)
                yield row["context"]
                yield from (pair["q"] for pair in row["qas"])


def fix_ids(tokenizer: Tokenizer) -> Tokenizer:
    """Give the tokens that structure every chat the ids that the synthetic stage uses."""
    data = json.loads(tokenizer.to_str())
    vocabulary = data["model"]["vocab"]
    order = [token for token, _ in sorted(vocabulary.items(), key=lambda item: item[1])]
    first = SPECIAL_TOKENS + FIXED_TOKENS
    assert set(first) <= set(order), [token for token in first if token not in vocabulary]
    order = first + [token for token in order if token not in first]
    data["model"]["vocab"] = {token: index for index, token in enumerate(order)}
    return Tokenizer.from_str(json.dumps(data))


def train(squad: str | None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(PATTERN), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE, special_tokens=[AddedToken(t, special=True, normalized=False) for t in SPECIAL_TOKENS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
    )  # fmt: skip

    def texts() -> Iterator[str]:
        yield from generated_text(12_000)
        if squad:
            yield from squad_text(squad)

    tokenizer.train_from_iterator(texts(), trainer)
    return fix_ids(tokenizer)


def write(tokenizer: Tokenizer, folder: Path = BASE) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    template = TEMPLATE.read_text()
    (folder / "chat_template.jinja").write_text(template)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": None,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "unk_token": None,
        "add_bos_token": False,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 2048,
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>"],
        "added_tokens_decoder": {
            str(index): {
                "content": token, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
                "special": True,
            }
            for index, token in enumerate(SPECIAL_TOKENS)
        },
        "chat_template": template,
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")


@cache
def load_tokenizer(folder: Path = BASE) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--squad", help="gzipped JSON lines whose text is added to the training text")
    write(train(parser.parse_args().squad))
