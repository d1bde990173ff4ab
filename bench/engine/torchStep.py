"""The peer of the LoRA step: transformers and peft on PyTorch, driven line by line.

Requests and answers are JSON, one a line:
  {"op": "load", "name", "folder", "tokens": [[...]], "rank", "alpha"}  ->  {"torch", "transformers", "peft"}
  {"op": "loss", "name", "threads"}                                     ->  {"loss"}, in float32
  {"op": "step", "name", "threads", "precision", "learning_rate"}       ->  {"loss", "wall_s", "cpu_s"}
Every token but the first of each sequence is a target.
"""

import time

import peft
import torch

from torchPeer import PROJECTIONS, autocast, cpu_seconds, load_model, serve, trained_parameters, versions

loaded = {}


def load(name, folder, tokens, rank, alpha):
    torch.manual_seed(1)
    lora = peft.LoraConfig(r=rank, lora_alpha=alpha, target_modules=PROJECTIONS, task_type="CAUSAL_LM")
    model = peft.get_peft_model(load_model(folder), lora).train()
    trained = trained_parameters(model)
    optimizer = torch.optim.AdamW(trained, betas=(0.9, 0.999), weight_decay=0)
    loaded[name] = (model, trained, optimizer, torch.tensor(tokens))
    return versions()


def loss(name, threads):
    torch.set_num_threads(threads)
    model, _, _, tokens = loaded[name]
    with torch.no_grad():
        return {"loss": model(input_ids=tokens, labels=tokens).loss.item()}


def step(name, threads, precision, learning_rate):
    torch.set_num_threads(threads)
    model, trained, optimizer, tokens = loaded[name]
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    before, cpu_before = time.perf_counter(), cpu_seconds()
    with autocast(precision):
        loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(trained, 1.0)
    optimizer.step()
    optimizer.zero_grad()
    wall_s, cpu_s = time.perf_counter() - before, cpu_seconds() - cpu_before
    return {"loss": loss.item(), "wall_s": wall_s, "cpu_s": cpu_s}


serve({"load": load, "loss": loss, "step": step})
