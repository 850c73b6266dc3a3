"""A GPT in plain PyTorch, with the choices that decide its memory, and Adam with fp32 masters."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from memory_model import Shape
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}


# --8<-- [start:attention]
def written_out(q: Tensor, k: Tensor, v: Tensor, dropout: float, training: bool) -> Tensor:
    """Attention as separate kernels: every s x s matrix is stored."""
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]))
    later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
    weights = scores.masked_fill(later, float("-inf")).softmax(-1)
    return functional.dropout(weights, dropout, training) @ v


# --8<-- [end:attention]


class Layer(nn.Module):
    """One transformer layer, LayerNorm first.

    attention: written_out, or a backend of PyTorch's fused call. recompute: none, selective
    (the attention core is computed again in the backward pass) or full (the layer is).
    """

    def __init__(self, shape: Shape, attention: str, dropout: float, recompute: str) -> None:
        super().__init__()
        h = shape.hidden
        self.heads, self.dropout = shape.heads, dropout
        self.attention, self.recompute = attention, recompute
        self.norm1, self.norm2 = nn.LayerNorm(h), nn.LayerNorm(h)
        self.qkv, self.out = nn.Linear(h, 3 * h), nn.Linear(h, h)
        self.up, self.down = nn.Linear(h, 4 * h), nn.Linear(4 * h, h)

    def core(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """softmax(q k^T) v, causal."""
        p = self.dropout if self.training else 0.0
        if self.attention == "written_out":
            return written_out(q, k, v, p, self.training)
        with sdpa_kernel(BACKENDS[self.attention]):
            return functional.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)

    def whole(self, x: Tensor) -> Tensor:
        """The layer itself."""
        b, s, h = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, s, 3, self.heads, h // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        if self.recompute == "selective" and torch.is_grad_enabled():
            y = checkpoint(self.core, q, k, v, use_reentrant=False)
        else:
            y = self.core(q, k, v)
        y = self.out(y.transpose(1, 2).reshape(b, s, h))
        x = x + functional.dropout(y, self.dropout, self.training)
        y = self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))
        return x + functional.dropout(y, self.dropout, self.training)

    def forward(self, x: Tensor) -> Tensor:
        if self.recompute == "full" and torch.is_grad_enabled():
            return checkpoint(self.whole, x, use_reentrant=False)
        return self.whole(x)


class GPT(nn.Module):
    """Token and position embedding, layers, tied output; returns the loss."""

    def __init__(
        self, shape: Shape, attention: str = "flash", dropout: float = 0.0, recompute: str = "none"
    ) -> None:
        super().__init__()
        self.shape = shape
        self.token = nn.Embedding(shape.vocabulary, shape.hidden)
        self.position = nn.Embedding(shape.sequence, shape.hidden)
        self.layers = nn.ModuleList(
            Layer(shape, attention, dropout, recompute) for _ in range(shape.layers)
        )
        self.norm = nn.LayerNorm(shape.hidden)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.token(tokens) + self.position(places)
        for layer in self.layers:
            x = layer(x)
        logits = functional.linear(self.norm(x), self.token.weight)
        return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


# --8<-- [start:adam]
class MasterAdam:
    """AdamW on fp32 copies of 16-bit weights: 4 bytes of master, 4 + 4 of moments a parameter.

    main_gradients: sum gradients in fp32 as soon as each is ready (18 bytes a parameter in all,
    not 16), as one does when several micro-batches make a step.
    """

    def __init__(self, model: nn.Module, main_gradients: bool = False) -> None:
        self.pairs = [(p, p.detach().float()) for p in model.parameters()]
        self.optimizers = [torch.optim.AdamW([m], lr=1e-4, fused=True) for _, m in self.pairs]
        if main_gradients:
            for p, master in self.pairs:
                master.grad = torch.zeros_like(master)
                p.register_post_accumulate_grad_hook(self._collector(master))
        self.main_gradients = main_gradients

    @staticmethod
    def _collector(master: Tensor) -> Callable[[Tensor], None]:
        def collect(p: Tensor) -> None:
            if master.grad is not None and p.grad is not None:
                master.grad += p.grad
            p.grad = None

        return collect

    @torch.no_grad()
    def step(self) -> None:
        """Update one tensor at a time, so that no fp32 copy of all gradients exists."""
        for (p, master), optimizer in zip(self.pairs, self.optimizers, strict=True):
            if not self.main_gradients:
                master.grad = p.grad.float() if p.grad is not None else None
            optimizer.step()
            if self.main_gradients and master.grad is not None:
                master.grad.zero_()
            else:
                master.grad = p.grad = None
            p.copy_(master)


# --8<-- [end:adam]


def batch_of(shape: Shape, batch: int, device: str) -> tuple[Tensor, Tensor]:
    """Random tokens and targets."""
    tokens = torch.randint(0, shape.vocabulary, (2, batch, shape.sequence), device=device)
    return tokens[0], tokens[1]
