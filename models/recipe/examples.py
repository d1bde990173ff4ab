"""The unit of training data (`Example`) and its packing into rows of one fixed shape."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

# Token ids that hold in every tokenizer of this recipe (tokenizer.py arranges the vocabulary accordingly), so that
# the synthetic stage does not depend on the merges that were learned.
SPECIAL_TOKENS = [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>",
    "<tool_response>", "</tool_response>", "<think>", "</think>",
]  # fmt: skip
PAD, IM_START, IM_END = 0, 1, 2
FIXED_TOKENS = ["Ċ", "system", "user", "assistant", ".", "?"]  # "Ċ" is the byte-level alphabet's newline
NEWLINE, SYSTEM, USER, ASSISTANT, FULL_STOP, QUESTION_MARK = range(len(SPECIAL_TOKENS), len(SPECIAL_TOKENS) + 6)
FIRST_FREE_ID = len(SPECIAL_TOKENS) + len(FIXED_TOKENS)


@dataclass
class Example:
    """Token ids and the spans that are trained on; a span is one answer, end of turn included."""

    kind: str
    ids: list[int]
    spans: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Batch:
    ids: Tensor  # (rows, length)
    document: Tensor  # (rows, length): which packed document a token belongs to
    select: Tensor  # flat positions whose next token is trained on
    targets: Tensor  # those next tokens
    owner: Tensor  # which answer (of all in the batch) each target belongs to
    kinds: list[str]  # the kind of each answer
    tokens: int  # tokens that are not padding

    def to(self, device: torch.device) -> "Batch":
        moved = {name: getattr(self, name).to(device) for name in ("ids", "document", "select", "targets", "owner")}
        return Batch(**moved, kinds=self.kinds, tokens=self.tokens)


class Packer:
    """Collects examples and packs them, longest first, into batches of (rows, length)."""

    def __init__(self, rows: int, length: int):
        self.rows, self.length = rows, length
        self.waiting: list[Example] = []

    def add(self, example: Example) -> None:
        self.waiting.append(example)

    @property
    def tokens(self) -> int:
        return sum(len(example.ids) for example in self.waiting)

    def ready(self) -> bool:
        return self.tokens >= 1.3 * self.rows * self.length

    def pack(self) -> Batch:
        rows: list[list[Example]] = [[] for _ in range(self.rows)]
        free = [self.length] * self.rows
        rest: list[Example] = []
        for example in sorted(self.waiting, key=lambda waiting: -len(waiting.ids)):
            row = next((index for index in range(self.rows) if free[index] >= len(example.ids)), None)
            if row is None:
                rest.append(example)
            else:
                rows[row].append(example)
                free[row] -= len(example.ids)
        self.waiting = rest
        return collate(rows, self.length)


def collate(rows: list[list[Example]], length: int) -> Batch:
    ids = torch.full((len(rows), length), PAD, dtype=torch.long)
    document = torch.full((len(rows), length), -1, dtype=torch.long)
    select: list[int] = []
    targets: list[int] = []
    owner: list[int] = []
    kinds: list[str] = []
    tokens = 0
    for row, examples in enumerate(rows):
        start = 0
        for number, example in enumerate(examples):
            end = start + len(example.ids)
            ids[row, start:end] = torch.tensor(example.ids)
            document[row, start:end] = number
            for first, last in example.spans:
                select.extend(range(row * length + start + first - 1, row * length + start + last - 1))
                targets.extend(example.ids[first:last])
                owner.extend([len(kinds)] * (last - first))
                kinds.append(example.kind)
            start = end
        tokens += start
    return Batch(ids, document, torch.tensor(select), torch.tensor(targets), torch.tensor(owner), kinds, tokens)
