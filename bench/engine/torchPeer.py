"""What the peers on PyTorch share. They are driven line by line: JSON goes in, JSON comes out."""

import contextlib
import json
import resource
import sys

import peft
import torch
import transformers

PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
transformers.utils.logging.disable_progress_bar()


def load_model(folder):
    """The weights are float32 in any case; autocast rounds them where it multiplies."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model.config.use_cache = False
    return model


def trained_parameters(model):
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def autocast(precision):
    """For a forward pass in "float32" or under autocast to "bfloat16"."""
    if precision == "float32":
        return contextlib.nullcontext()
    return torch.autocast("cpu", dtype=getattr(torch, precision))


def versions():
    return {"torch": torch.__version__, "transformers": transformers.__version__, "peft": peft.__version__}


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def serve(operations):
    """Answers each request {"op", ...} with what the operation of that name returns."""
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(operations[request.pop("op")](**request)), flush=True)
