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

#: Weight of a token of a passage that is itself trained on, against 1 for a token of an answer.
TEXT_WEIGHT = 0.1
#: The trained positions of a batch are filled up to a multiple of this.
SELECT_MULTIPLE = 256


@dataclass
class Example:
    """Token ids and the spans that are trained on; a span is one answer, end of turn included.

    ``branches`` are the starts of turns that do not see each other: every one continues what stands before the first of
    them, as if it were asked alone, so that one passage serves many questions at the cost of one reading.
    """

    kind: str
    ids: list[int]
    spans: list[tuple[int, int]] = field(default_factory=list)
    branches: list[int] = field(default_factory=list)
    text: tuple[int, int] | None = None  # a span trained on as text, with a small weight
    #: Where a question ends and its answer would begin, and a number that questions with the same answer share.
    alike: list[tuple[int, int]] = field(default_factory=list)

    def shortened(self, length: int) -> "Example":
        """The chat without its last turns, when at least one answer fits in the length."""
        spans = [(start, end) for start, end in self.spans if end < length]
        if not spans:
            return self
        end = spans[-1][1] + 1
        return Example(self.kind, self.ids[:end], spans, [b for b in self.branches if b < end], self.text)


@dataclass
class Batch:
    ids: Tensor  # (rows, length)
    document: Tensor  # (rows, length): which packed document a token belongs to
    branch: Tensor  # (rows, length): 0 for what all branches see, else the branch's number
    position: Tensor  # (rows, length): as if each branch stood alone
    select: Tensor  # flat positions whose next token is trained on
    targets: Tensor  # those next tokens
    weights: Tensor  # their weights in the loss
    owner: Tensor  # which answer (of all in the batch) each target belongs to
    ends: Tensor  # flat positions where questions end that are compared with each other
    groups: Tensor  # of each of them: a number that those share that ask for the same
    kinds: list[str]  # the kind of each answer
    tokens: int  # tokens that are not padding

    def to(self, device: torch.device) -> "Batch":
        tensors = ("ids", "document", "branch", "position", "select", "targets", "weights", "owner", "ends", "groups")
        moved = {name: getattr(self, name).to(device, non_blocking=True) for name in tensors}
        return Batch(**moved, kinds=self.kinds, tokens=self.tokens)


class Packer:
    """Collects examples and packs them, longest first, into batches of (rows, length)."""

    def __init__(self, rows: int, length: int):
        self.rows, self.length = max(1, rows), length
        self.waiting: list[Example] = []

    def add(self, example: Example) -> None:
        self.waiting.append(example)

    @property
    def tokens(self) -> int:
        return sum(len(example.ids) for example in self.waiting)

    def ready(self) -> bool:
        return self.tokens >= 2 * self.rows * self.length

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


def branch_numbers(example: Example) -> tuple[Tensor, Tensor]:
    """The branch and the position of every token."""
    length = len(example.ids)
    branch, position = torch.zeros(length, dtype=torch.long), torch.arange(length)
    for number, start in enumerate(example.branches, 1):
        branch[start:] = number
        position[start:] = example.branches[0] + torch.arange(length - start)
    return branch, position


def collate(rows: list[list[Example]], length: int) -> Batch:
    shape = (len(rows), length)
    ids = torch.full(shape, PAD, dtype=torch.long)
    document = torch.full(shape, -1, dtype=torch.long)
    branch, position = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    select: list[int] = []
    targets: list[int] = []
    weights: list[float] = []
    owner: list[int] = []
    kinds: list[str] = []
    ends: list[int] = []
    groups: list[int] = []
    tokens = 0
    for row, examples in enumerate(rows):
        start = 0
        for number, example in enumerate(examples):
            end = start + len(example.ids)
            ids[row, start:end] = torch.tensor(example.ids)
            document[row, start:end] = number
            branch[row, start:end], position[row, start:end] = branch_numbers(example)
            trained = [(span, example.kind, 1.0) for span in example.spans]
            if example.text:
                trained.append((example.text, "text", TEXT_WEIGHT))
            for (first, last), kind, weight in trained:
                select.extend(range(row * length + start + first - 1, row * length + start + last - 1))
                targets.extend(example.ids[first:last])
                weights.extend([weight] * (last - first))
                owner.extend([len(kinds)] * (last - first))
                kinds.append(kind)
            first_group = max(groups, default=-1) + 1
            ends.extend(row * length + start + place for place, _ in example.alike)
            groups.extend(first_group + group for _, group in example.alike)
            start = end
        tokens += start
    # Few different sizes, since memory of ever new sizes falls into pieces; what is added has no weight.
    missing = -len(select) % SELECT_MULTIPLE
    select += [0] * missing
    targets += [PAD] * missing
    weights += [0.0] * missing
    owner += [len(kinds)] * missing
    return Batch(
        ids, document, branch, position, torch.tensor(select, dtype=torch.long), torch.tensor(targets, dtype=torch.long), torch.tensor(weights),
        torch.tensor(owner, dtype=torch.long), torch.tensor(ends, dtype=torch.long), torch.tensor(groups, dtype=torch.long), kinds, tokens,
    )  # fmt: skip
