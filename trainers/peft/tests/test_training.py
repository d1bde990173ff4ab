"""A step, beside what plain PyTorch computes."""

import pytest
import torch
from conftest import fresh_matrices, opened, run_of
from safetensors.torch import load

from engraft_trainer.errors import TrainerError
from engraft_trainer.training import Training
from engraft_trainer.wire import read_runs

ONE = [3, 9, 27, 17, 51, 25]
TWO = [3, 9, 27, 40, 41, 42, 43]


def runs(*values: dict):
    return read_runs({"runs": list(values)})


def state_of(training: Training) -> bytes:
    return training.state(True)


def assert_equal(one: dict[str, torch.Tensor], two: dict[str, torch.Tensor]) -> None:
    assert one.keys() == two.keys()
    assert all(torch.equal(tensor, two[name]) for name, tensor in one.items())


def test_the_loss_is_the_models_own(base):
    training = Training(base, *opened(base, fresh_matrices(base)))
    with torch.no_grad():
        logits = base.model(torch.tensor([ONE])).logits[0].log_softmax(-1)
    wanted = -sum(logits[place - 1, ONE[place]] for place in range(2, 6)) / 4
    assert training.evaluate(runs(run_of(ONE, 2)))["loss"] == pytest.approx(wanted.item(), rel=1e-5)
    training.close()


def test_a_packed_row_gives_what_its_sequences_give_alone(base):
    first, second = run_of(ONE, 4, 0.5), run_of(TWO, 4, 0.5)
    shared = 3
    packed = {
        "rows": 1,
        "length": len(ONE) + len(TWO) - shared + 1,
        "packed": True,
        "ids": [*ONE, *TWO[shared:], 0],
        "segments": [1] * 3 + [2] * 3 + [3] * 4 + [0],
        "trunks": [1] * 10 + [0],
        "places": [*range(6), *range(3, 7), 0],
        "positions": [3, 4, 6, 7, 8],
        "target_ids": [*ONE[4:], *TWO[4:]],
        "target_probabilities": [1.0] * 5,
        "weights": [0.25] * 2 + [0.5 / 3] * 3,
    }
    results = []
    for batch in (runs(first, second), runs(packed)):
        training = Training(base, *opened(base, fresh_matrices(base)))
        stepped = [training.step(batch, 0.01) for _ in range(3)]
        results.append([(step["loss"], step["gradient_norm"]) for step in stepped])
        training.close()
    torch.testing.assert_close(torch.tensor(results[1]), torch.tensor(results[0]), rtol=1e-4, atol=1e-6)


def test_soft_targets_weigh_the_alternatives(base):
    training = Training(base, *opened(base, fresh_matrices(base)))
    soft = {**run_of(ONE, 5), "target_ids": [25, 7], "target_probabilities": [0.75, 0.25]}
    hard = {**run_of(ONE, 5), "target_ids": [7]}
    own, other = training.evaluate(runs(run_of(ONE, 5)))["loss"], training.evaluate(runs(hard))["loss"]
    assert training.evaluate(runs(soft))["loss"] == pytest.approx(0.75 * own + 0.25 * other, rel=1e-5)
    training.close()


def test_what_is_closed_leaves_the_model_as_it_was(base):
    before = {name: tensor.clone() for name, tensor in base.model.state_dict().items()}
    training = Training(base, *opened(base, fresh_matrices(base)))
    training.step(runs(run_of(ONE, 2)), 0.1)
    training.close()
    after = base.model.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())


def test_a_training_goes_on_from_its_state_to_the_last_bit(base):
    batch = runs(run_of(ONE, 2))
    whole = Training(base, *opened(base, fresh_matrices(base)))
    for _ in range(2):
        whole.step(batch, 0.01)
    tensors = load(state_of(whole))
    whole.step(batch, 0.01)
    wanted = state_of(whole)
    whole.close()
    optimizer = {"betas": [0.9, 0.99], "weight_decay": 0.01, "clip_norm": 1, "steps": 2}
    resumed = Training(base, *opened(base, tensors, optimizer=optimizer, is_fresh=False))
    resumed.step(batch, 0.01)
    assert_equal(load(state_of(resumed)), load(wanted))
    resumed.close()


def test_protected_directions_stay(base):
    sequences = [ONE, TWO]
    training = Training(base, *opened(base, fresh_matrices(base), protected=sequences))
    parts = training._projection._parts
    for _ in range(3):
        training.step(runs(run_of(ONE, 2)), 0.05)
    for matrix, directions, share in parts:
        assert 0 < share <= 1
        torch.testing.assert_close(directions @ directions.T, torch.eye(len(directions)), atol=1e-5, rtol=0)
        assert (matrix @ directions.T).abs().max() < 1e-5
        assert matrix.abs().max() > 1e-3
    training.close()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("a matrix is missing", lambda tensors: tensors.popitem()),
        ("one too many", lambda tensors: tensors.update(extra=torch.zeros(1))),
        ("another shape", lambda tensors: tensors.update({next(iter(tensors)): torch.zeros(1, 1)})),
    ],
)
def test_matrices_that_do_not_fit_are_refused_and_leave_nothing(base, name, change):
    tensors = fresh_matrices(base)
    change(tensors)
    with pytest.raises(TrainerError) as caught:
        Training(base, *opened(base, tensors))
    assert caught.value.code == "adapter_invalid"
    assert not any("lora" in key for key in base.model.state_dict())


def test_the_upper_layers_alone(base):
    layers = {"adapter_config": {"layers_to_transform": [1, 2]}}
    training = Training(base, *opened(base, fresh_matrices(base, 1), **layers))
    assert training.step(runs(run_of(ONE, 2)), 0.01)["gradient_norm"] > 0
    training.close()


def test_a_loss_that_is_no_number_changes_nothing(base):
    training = Training(base, *opened(base, fresh_matrices(base)))
    before = state_of(training)
    with pytest.raises(TrainerError, match="not finite") as caught:
        training.step(runs({**run_of(ONE, 2), "weights": [3e38] * 4}), 0.01)
    assert caught.value.code == "not_finite", "which says nothing against the trainer"
    assert_equal(load(state_of(training)), load(before))
    training.close()
