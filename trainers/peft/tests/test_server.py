"""A whole trainer over HTTP, in a process of its own."""

import json
import time
import urllib.error
import urllib.request

import pytest
import torch
from conftest import fresh_matrices, opening_bytes, run_of
from safetensors.torch import load

from engraft_trainer.checkpoint import content_hash

ROWS = [run_of([3, 9, 27, 17, 51, 25], 2, 0.5), run_of([7, 8, 9, 10, 11], 1, 0.25), run_of([1, 2, 3], 1, 0.25)]
STEP = json.dumps({"runs": ROWS, "learning_rate": 0.01}).encode()


def ask(method: str, url: str, body: bytes | None = None) -> tuple[int, bytes]:
    request = urllib.request.Request(url, data=body, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def code_of(body: bytes) -> str:
    return json.loads(body)["error"]["code"]


def train(url: str, opening: bytes, steps: int) -> tuple[list[dict], bytes]:
    status, body = ask("POST", f"{url}/sessions", opening)
    assert status == 201, body
    session = f"{url}/sessions/{json.loads(body)['id']}"
    stepped = [json.loads(ask("POST", f"{session}/step", STEP)[1]) for _ in range(steps)]
    _, state = ask("GET", f"{session}/moments")
    assert ask("DELETE", session)[0] == 200
    return stepped, state


def test_opens_trains_gives_and_is_free_again(base, model_folder, start_trainer):
    url, _ = start_trainer()
    model = content_hash(model_folder)
    description = json.loads(ask("GET", f"{url}/")[1])
    assert (description["model"], description["busy"], description["processes"]) == (model, False, 1)
    opening = opening_bytes(fresh_matrices(base), model)
    first, state = train(url, opening, 2)
    assert [step["steps"] for step in first] == [1, 2]
    again, same = train(url, opening, 2)
    assert again == first
    tensors = load(state)
    assert all(torch.equal(tensor, tensors[name]) for name, tensor in load(same).items())
    assert len(tensors) == 3 * len(fresh_matrices(base))


def test_refuses_what_it_cannot_do(base, model_folder, start_trainer):
    url, _ = start_trainer("--max-state-bytes", "100000")
    model = content_hash(model_folder)
    tensors = fresh_matrices(base)
    assert code_of(ask("POST", f"{url}/sessions", opening_bytes(tensors, "sha256:other"))[1]) == "model_differs"
    assert code_of(ask("POST", f"{url}/sessions", b"x" * 100_001)[1]) == "too_large"
    assert code_of(ask("POST", f"{url}/sessions", b"nothing of the kind")[1]) == "adapter_invalid"
    assert code_of(ask("POST", f"{url}/sessions/{'0' * 32}/step", STEP)[1]) == "session_lost"
    assert code_of(ask("GET", f"{url}/else")[1]) == "invalid_request"
    _, body = ask("POST", f"{url}/sessions", opening_bytes(tensors, model))
    session = f"{url}/sessions/{json.loads(body)['id']}"
    assert code_of(ask("POST", f"{url}/sessions", opening_bytes(tensors, model))[1]) == "busy"
    for wrong in (b"{", b"[]", b'{"runs": []}', json.dumps({"runs": [{**ROWS[0], "ids": [1]}]}).encode()):
        assert code_of(ask("POST", f"{session}/evaluate", wrong)[1]) == "invalid_request"
    beyond = json.dumps({"runs": [{**ROWS[0], "ids": [64] * 6}]}).encode()
    assert code_of(ask("POST", f"{session}/evaluate", beyond)[1]) == "invalid_request"
    assert ask("POST", f"{session}/step", STEP)[0] == 200


def test_a_client_that_is_silent_loses_it(base, model_folder, start_trainer):
    url, _ = start_trainer("--lease-seconds", "0.5")
    opening = opening_bytes(fresh_matrices(base), content_hash(model_folder))
    _, body = ask("POST", f"{url}/sessions", opening)
    session = f"{url}/sessions/{json.loads(body)['id']}"
    for _ in range(4):
        time.sleep(0.25)
        assert ask("POST", f"{session}/renew", b"")[0] == 200
    for _ in range(100):
        time.sleep(0.1)
        if not json.loads(ask("GET", f"{url}/")[1])["busy"]:
            break
    assert code_of(ask("POST", f"{session}/step", STEP)[1]) == "session_lost"
    train(url, opening, 1)


@pytest.mark.parametrize("processes", [2])
def test_several_processes_give_what_one_gives(base, model_folder, start_trainer, processes):
    opening = opening_bytes(fresh_matrices(base), content_hash(model_folder), protected=[[1, 2, 3, 4, 5]])
    alone, _ = start_trainer()
    wanted, state = train(alone, opening, 3)
    several, process = start_trainer(processes=processes)
    assert json.loads(ask("GET", f"{several}/")[1])["processes"] == processes
    stepped, other = train(several, opening, 3)
    for one, two in zip(wanted, stepped, strict=True):
        assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
        assert two["gradient_norm"] == pytest.approx(one["gradient_norm"], rel=1e-4)
    for name, tensor in load(state).items():
        torch.testing.assert_close(load(other)[name], tensor, rtol=1e-3, atol=1e-5)
    # A batch that one of them refuses is refused by all, and they go on together.
    _, body = ask("POST", f"{several}/sessions", opening)
    session = f"{several}/sessions/{json.loads(body)['id']}"
    beyond = json.dumps({"runs": [ROWS[0], {**ROWS[1], "ids": [64] * 5}], "learning_rate": 1}).encode()
    status, body = ask("POST", f"{session}/step", beyond)
    assert status in (400, 500), body
    assert ask("POST", f"{session}/step", STEP)[0] == 200
