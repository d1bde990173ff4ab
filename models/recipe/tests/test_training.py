"""What training computes: Muon's step, the contrast of questions, and batches filled up."""

from __future__ import annotations

import random
import unittest

import torch

from recipe.chat import encode, prompt_ids
from recipe.examples import SELECT_MULTIPLE, collate
from recipe.export import averaged
from recipe.losses import CONTRAST_WEIGHT, TokenLosses, contrast, nearest_alike
from recipe.model import BLOCK, Decoder, ModelConfig, attend
from recipe.muon import Muon, orthogonalised
from recipe.tasks import Tasks
from recipe.texts import TextTasks
from recipe.tokenizer import load_tokenizer


class Training(unittest.TestCase):
    def test_muon_steps_as_the_library_does(self):
        torch.manual_seed(1)
        for shape in ((64, 256), (256, 64)):
            ours = [torch.nn.Parameter(torch.randn(*shape)) for _ in range(2)]
            theirs = [torch.nn.Parameter(mine.detach().clone()) for mine in ours]
            library = torch.optim.Muon(theirs, lr=1e-2, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
            optimiser = Muon(ours, 1e-2, dtype=torch.bfloat16)
            begin = [mine.detach().clone() for mine in ours]
            for _ in range(5):
                for mine, other in zip(ours, theirs):
                    mine.grad = torch.randn(*shape)
                    other.grad = mine.grad.clone()
                optimiser.step()
                library.step()
            for mine, other, first in zip(ours, theirs, begin):
                self.assertLess((mine - other).abs().max(), 0.05 * (mine - first).abs().max())

    def test_orthogonalised_matrices_keep_their_directions_and_lose_their_lengths(self):
        torch.manual_seed(2)
        u, s, v = torch.linalg.svd(torch.randn(32, 96), full_matrices=False)
        matrix = u @ torch.diag(s) @ v
        lengths = torch.linalg.svdvals(orthogonalised(matrix[None], torch.float32)[0])
        self.assertTrue(((lengths > 0.6) & (lengths < 1.3)).all())
        self.assertGreater(torch.nn.functional.cosine_similarity(orthogonalised(matrix[None], torch.float32).flatten(), (u @ v).flatten(), 0), 0.97)

    def test_losses_and_their_gradients_are_the_library_s(self):
        torch.manual_seed(8)
        targets, weights = torch.randint(0, 50, (12,)), torch.rand(12)
        ours = torch.randn(12, 50, requires_grad=True)
        theirs = ours.detach().clone().requires_grad_()
        each, right = TokenLosses.apply(ours, targets)
        expected = torch.nn.functional.cross_entropy(theirs, targets, reduction="none")
        (each * weights).sum().backward()
        (expected * weights).sum().backward()
        torch.testing.assert_close(each, expected)
        torch.testing.assert_close(ours.grad, theirs.grad)
        self.assertEqual(right.tolist(), (theirs.argmax(-1) == targets).tolist())

    def test_blocks_of_queries_attend_as_all_at_once_do(self):
        torch.manual_seed(9)
        length, before = 2 * BLOCK + 5, 3
        query, key, value = (torch.randn(2, 2, size, 8) for size in (length, before + length, before + length))
        mask = torch.full((length, before + length), -1e4).triu(before + 1).expand(2, 1, -1, -1)
        expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
        torch.testing.assert_close(attend(query, key, value, mask), expected)

    def test_questions_that_ask_for_the_same_are_drawn_together(self):
        torch.manual_seed(3)
        centres = torch.randn(4, 16)
        groups = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])
        close, mixed = centres[groups] + 0.01 * torch.randn(8, 16), torch.randn(8, 16)
        self.assertLess(contrast(close, groups), contrast(mixed, groups))
        self.assertTrue(nearest_alike(close, groups).all())
        self.assertFalse(nearest_alike(centres[torch.tensor([0, 1, 0, 1, 2, 3, 2, 3])], groups).any())

    def test_alike_questions_end_where_their_answers_would_begin(self):
        tokenizer, source = load_tokenizer(), random.Random(4)
        for chat in (Tasks(source).alike(), TextTasks(source).alike()):
            example = encode(tokenizer, chat)
            self.assertEqual(len(example.alike), len(chat.messages))
            self.assertEqual(len(example.branches), len(chat.messages))
            for (end, group), start, message, number in zip(example.alike, example.branches, chat.messages, chat.alike):
                self.assertEqual(group, number)
                self.assertEqual(example.ids[start : end + 1], prompt_ids(tokenizer, [message]))

    def test_numbers_of_groups_differ_between_the_examples_of_a_batch(self):
        tokenizer, tasks = load_tokenizer(), Tasks(random.Random(5))
        examples = [encode(tokenizer, tasks.alike()) for _ in range(2)]
        batch = collate([[examples[0]], [examples[1]]], 1024)
        first = len(examples[0].alike)
        self.assertFalse(set(batch.groups[:first].tolist()) & set(batch.groups[first:].tolist()))
        flat = batch.ids.flatten()
        for end in batch.ends.tolist():
            self.assertEqual(tokenizer.decode(flat[end - 2 : end + 1].tolist(), skip_special_tokens=False), "<|im_start|>assistant\n")

    def test_a_batch_of_nothing_but_questions_trains_their_contrast(self):
        torch.manual_seed(7)
        batch = collate([[encode(load_tokenizer(), Tasks(random.Random(7)).alike())]], 1024)
        model = Decoder(ModelConfig(num_hidden_layers=2))
        loss, _, ends = model.loss(batch)
        self.assertAlmostEqual(loss.item(), CONTRAST_WEIGHT * contrast(ends, batch.groups).item(), places=5)
        loss.backward()
        self.assertGreater(model.model.embed_tokens.weight.grad.abs().sum(), 0)

    def test_the_mean_of_two_models_lies_between_them_and_needs_one_size(self):
        torch.manual_seed(10)
        first, second = (Decoder(ModelConfig(num_hidden_layers=1)) for _ in range(2))
        for mine, mean, other in zip(first.parameters(), averaged(first, second).parameters(), second.parameters()):
            torch.testing.assert_close(mean - mine, other - mean)
        with self.assertRaisesRegex(ValueError, "one size"):
            averaged(first, Decoder(ModelConfig(num_hidden_layers=2)))

    def test_filling_up_changes_no_loss(self):
        torch.manual_seed(6)
        tokenizer, tasks = load_tokenizer(), Tasks(random.Random(6))
        example = encode(tokenizer, tasks.read())
        batch = collate([[example]], 1024)
        self.assertEqual(len(batch.select) % SELECT_MULTIPLE, 0)
        model = Decoder(ModelConfig(num_hidden_layers=1))
        loss, _, _ = model.loss(batch)
        logits, _ = model(batch)
        real = batch.weights > 0
        self.assertAlmostEqual(loss.item(), torch.nn.functional.cross_entropy(logits[real], batch.targets[real]).item(), places=4)


if __name__ == "__main__":
    unittest.main()
