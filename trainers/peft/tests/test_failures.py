"""What is left when something fails that nobody foresaw."""

import json
import threading
import time
from pathlib import Path

import pytest
import torch
from conftest import fresh_matrices, opened, opening_bytes, run_of
from test_server import STEP, ask, code_of

from engraft_trainer import crew as crew_module
from engraft_trainer import training as training_module
from engraft_trainer.checkpoint import content_hash
from engraft_trainer.crew import Crew
from engraft_trainer.errors import TrainerError, as_trainer_error
from engraft_trainer.lease import Lease
from engraft_trainer.server import Offer, TrainerServer
from engraft_trainer.training import Training
from engraft_trainer.wire import read_runs

ONE_STEP = json.dumps({"runs": [run_of([1, 2, 3], 1)], "learning_rate": 0.01}).encode()


class Ended(BaseException):
    """Instead of the end of the process."""


@pytest.fixture
def ends(monkeypatch):
    def end(_status: int) -> None:
        raise Ended

    monkeypatch.setattr(crew_module.os, "_exit", end)


class FaultyCrew:
    """A fault injector: it opens whatever it is asked to, and can close nothing."""

    def ask(self, name: str, *_: object) -> None:
        if name == "close":
            raise TrainerError("internal", "it fails")


@pytest.fixture
def serve():
    servers = []

    def start(seconds: float, crew: object) -> str:
        offer = Offer("sha256:x", 1, "float32", 512, 2**25, 2**20)
        server = TrainerServer(("127.0.0.1", 0), crew, Lease(seconds), offer)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def is_busy(url: str) -> bool:
    return json.loads(ask("GET", f"{url}/")[1])["busy"]


def open_session(url: str, opening: bytes = b"x") -> str:
    status, body = ask("POST", f"{url}/sessions", opening)
    assert status == 201, body
    return f"{url}/sessions/{json.loads(body)['id']}"


def test_a_training_that_cannot_be_dropped_leaves_the_trainer_free(serve):
    url = serve(60, FaultyCrew())
    assert code_of(ask("DELETE", open_session(url))[1]) == "internal"
    assert not is_busy(url)
    short = serve(0.2, FaultyCrew())
    for _ in range(2):
        open_session(short)
        deadline = time.monotonic() + 10
        while is_busy(short):
            assert time.monotonic() < deadline, "the lease has run out"
            time.sleep(0.05)


def test_a_large_body_that_is_refused_is_heard_as_refused(serve):
    url = serve(60, FaultyCrew())
    large = bytes(2**25)
    assert code_of(ask("POST", f"{url}/sessions", large)[1]) == "too_large"
    open_session(url)
    assert code_of(ask("POST", f"{url}/sessions", large)[1]) == "busy"
    assert code_of(ask("POST", f"{url}/sessions/{'0' * 32}/step", large)[1]) == "session_lost"


def test_a_stale_call_does_nothing_to_the_next_session(base):
    crew = Crew(base, "sha256:x")
    opening = opening_bytes(fresh_matrices(base))
    crew._obey("open", "a", opening)
    crew._obey("close", "a", b"")
    crew._obey("open", "b", opening)
    for name, body in (("step", ONE_STEP), ("evaluate", ONE_STEP), ("state", b"state")):
        with pytest.raises(TrainerError, match="not open"):
            crew._obey(name, "a", body)
    crew._obey("close", "a", b"")
    assert crew._obey("step", "b", ONE_STEP)["steps"] == 1
    crew._obey("close", None, b"")


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_training_whose_update_fails_is_dropped(base, monkeypatch, elsewhere):
    before = {name: tensor.clone() for name, tensor in base.model.state_dict().items()}
    crew = Crew(base, "sha256:x")
    crew._obey("open", "a", opening_bytes(fresh_matrices(base)))

    def half_done(*_: object) -> None:
        next(iter(crew._training._adapter.matrices.values())).data.zero_()
        raise RuntimeError("not enough memory")

    if elsewhere:
        monkeypatch.setattr(training_module, "any_failed", lambda *_: True)
    else:
        monkeypatch.setattr(crew._training._optimizer, "step", half_done)
    for _ in range(2):
        with pytest.raises(TrainerError) as caught:
            crew._obey("step", "a", ONE_STEP)
        assert caught.value.code == "session_lost"
    after = base.model.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())


def test_what_every_step_needs_is_there_before_the_first(base):
    training = Training(base, *opened(base, fresh_matrices(base)))
    held = [(each.grad, training._optimizer.state[each]["exp_avg"]) for each in training._parameters]
    training.step(read_runs({"runs": [run_of([1, 2, 3], 1)]}), 0.01)
    for each, (gradient, moment) in zip(training._parameters, held, strict=True):
        assert each.grad is gradient
        assert training._optimizer.state[each]["exp_avg"] is moment
    training.close()


def test_an_error_of_the_gpu_ends_the_process(base, ends, monkeypatch):
    crew = Crew(base, "sha256:x")
    crew._obey("open", "a", opening_bytes(fresh_matrices(base)))

    def fail(*_: object) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(training_module, "loss_of", fail)
    with pytest.raises(TrainerError) as caught:
        crew._obey("step", "a", ONE_STEP)
    with pytest.raises(Ended):
        crew_module.report("step", caught.value)
    monkeypatch.setattr(crew._training, "close", fail)
    with pytest.raises(Exception, match="may still have") as caught:
        crew._obey("close", "a", b"")
    with pytest.raises(Ended):
        crew_module.report("close", caught.value)
    crew_module.report("step", as_trainer_error(RuntimeError("CUDA out of memory")))


def test_an_update_that_fails_on_one_process_is_heard_of(base, model_folder, start_trainer):
    faulty = Path(__file__).parent / "faulty_trainer.py"
    url, _ = start_trainer(processes=2, script=faulty)
    opening = opening_bytes(fresh_matrices(base), content_hash(model_folder))
    session = open_session(url, opening)
    assert ask("POST", f"{session}/step", STEP)[0] == 200
    for _ in range(2):
        assert code_of(ask("POST", f"{session}/step", STEP)[1]) == "session_lost"
    assert ask("DELETE", session)[0] == 200
    assert ask("POST", f"{open_session(url, opening)}/step", STEP)[0] == 200
