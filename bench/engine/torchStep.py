"""The peer of the LoRA step: transformers and peft on PyTorch, driven line by line.

Requests and answers are JSON, one a line:
  {"op": "load", "name", "folder", "tokens": [[...]], "rank", "alpha"}  ->  {"torch", "transformers", "peft"}
  {"op": "step", "name", "threads", "learning_rate"}                    ->  {"loss", "wall_s", "cpu_s"}
Every token but the first of each sequence is a target.
"""

import json
import resource
import sys
import time

import peft
import torch
import transformers

PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
loaded = {}
transformers.utils.logging.disable_progress_bar()


def load(name, folder, tokens, rank, alpha):
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model.config.use_cache = False
    lora = peft.LoraConfig(r=rank, lora_alpha=alpha, target_modules=PROJECTIONS, task_type="CAUSAL_LM")
    model = peft.get_peft_model(model, lora).train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, betas=(0.9, 0.999), weight_decay=0)
    loaded[name] = (model, trained, optimizer, torch.tensor(tokens))
    return {"torch": torch.__version__, "transformers": transformers.__version__, "peft": peft.__version__}


def step(name, threads, learning_rate):
    torch.set_num_threads(threads)
    model, trained, optimizer, tokens = loaded[name]
    for group in optimizer.param_groups:
        group["lr"] = learning_rate
    before, cpu_before = time.perf_counter(), cpu_seconds()
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(trained, 1.0)
    optimizer.step()
    optimizer.zero_grad()
    wall_s, cpu_s = time.perf_counter() - before, cpu_seconds() - cpu_before
    return {"loss": loss.item(), "wall_s": wall_s, "cpu_s": cpu_s}


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


operations = {"load": load, "step": step}
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(operations[request.pop("op")](**request)), flush=True)
