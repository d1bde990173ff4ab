"""The peer of a whole training: transformers and peft on PyTorch, driven line by line.

Requests and answers are JSON, one a line:
  {"op": "load", "folder", "threads"}                                     ->  {"torch", "transformers", "peft"}
  {"op": "begin", "adapter", "betas", "weight_decay", "clip_norm", "precision"}  ->  {}
  {"op": "loss", "rows"}                                                  ->  {"loss"}, in float32
  {"op": "step", "rows", "learning_rate"}                                 ->  {"loss", "wall_s", "cpu_s"}
  {"op": "save", "folder"}                                                ->  {"wall_s", "cpu_s"}
A row is {"tokens", "target_start", "weight", "soft_targets", "target_weights"}: tokens from `target_start` on are
targets, each by itself (null) or with alternatives, {"ids", "logprobs"}, and all count alike (null) or by their weights.
"""

import time

import peft
import torch

from torchPeer import autocast, cpu_seconds, load_model, serve, trained_parameters, versions


class Training:
    model = None
    trained = None
    optimizer = None
    clip_norm = None
    precision = None


now = Training()


def load(folder, threads):
    torch.set_num_threads(threads)
    now.model = load_model(folder)
    return versions()


def begin(adapter, betas, weight_decay, clip_norm, precision):
    """Goes on from a saved adapter, so that the engine and PEFT begin with the same numbers."""
    base = now.model.unload() if isinstance(now.model, peft.PeftModel) else now.model
    now.model = peft.PeftModel.from_pretrained(base, adapter, is_trainable=True).train()
    now.trained = trained_parameters(now.model)
    now.optimizer = torch.optim.AdamW(now.trained, betas=tuple(betas), weight_decay=weight_decay)
    now.clip_norm, now.precision = clip_norm, precision
    return {}


def loss(rows):
    with torch.no_grad():
        return {"loss": loss_of(rows, "float32").item()}


def step(rows, learning_rate):
    for group in now.optimizer.param_groups:
        group["lr"] = learning_rate
    before, cpu_before = time.perf_counter(), cpu_seconds()
    loss = loss_of(rows, now.precision)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(now.trained, now.clip_norm)
    now.optimizer.step()
    now.optimizer.zero_grad()
    return {"loss": loss.item(), **since(before, cpu_before)}


def save(folder):
    before, cpu_before = time.perf_counter(), cpu_seconds()
    now.model.save_pretrained(folder, save_embedding_layers=False)
    return since(before, cpu_before)


def since(before, cpu_before):
    return {"wall_s": time.perf_counter() - before, "cpu_s": cpu_seconds() - cpu_before}


def loss_of(rows, precision):
    """The sum over rows of weight times mean target loss, by the sum of the weights."""
    ids, attention_mask = padded([row["tokens"] for row in rows])
    places, target_ids, probabilities, weights = targets_of(rows)
    with autocast(precision):
        logits = now.model(input_ids=ids, attention_mask=attention_mask).logits
    # As transformers does: whatever the logits are, their loss is float32.
    log_probabilities = torch.log_softmax(logits[places].float(), dim=-1).gather(1, target_ids)
    return -((log_probabilities * probabilities).sum(dim=1) * weights).sum()


def padded(sequences):
    """As the usual collator does: all as long as the longest, with padding on the right."""
    length = max(map(len, sequences))
    ids = torch.tensor([tokens + [0] * (length - len(tokens)) for tokens in sequences])
    mask = torch.tensor([[1] * len(tokens) + [0] * (length - len(tokens)) for tokens in sequences])
    return ids, mask


def targets_of(rows):
    """Where targets are predicted, `[N]` twice; their ids and probabilities, `[N, K]`; and their weights, `[N]`."""
    row_places, token_places, ids, probabilities, weights = [], [], [], [], []
    weight_sum = sum(row["weight"] for row in rows)
    alternatives = max(len(soft["ids"]) for row in rows for soft in row["soft_targets"] or [{"ids": [0]}])
    for index, row in enumerate(rows):
        tokens, start = row["tokens"], row["target_start"]
        count = len(tokens) - start
        own = row["target_weights"] or [1.0] * count
        hard = [{"ids": [token], "logprobs": [0.0]} for token in tokens[start:]]
        for offset, target in enumerate(row["soft_targets"] or hard):
            missing = alternatives - len(target["ids"])
            row_places.append(index)
            token_places.append(start + offset - 1)
            ids.append(target["ids"] + [0] * missing)
            probabilities.append(target["logprobs"] + [float("-inf")] * missing)
            weights.append(row["weight"] / weight_sum * own[offset] / sum(own))
    places = (torch.tensor(row_places), torch.tensor(token_places))
    return places, torch.tensor(ids), torch.softmax(torch.tensor(probabilities), dim=1), torch.tensor(weights)


serve({"load": load, "begin": begin, "loss": loss, "step": step, "save": save})
