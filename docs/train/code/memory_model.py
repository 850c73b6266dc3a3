"""What the formulas promise: parameters, bytes of a training step, FLOP. Pure arithmetic.

Symbols as in Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models"
(https://arxiv.org/abs/2205.05198): s sequence, b batch, h hidden, a heads, L layers, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A GPT: learned positions, LayerNorm, GELU, 4h feed-forward, biases, tied embedding."""

    layers: int = 24
    hidden: int = 2048
    heads: int = 16
    vocabulary: int = 50304
    sequence: int = 2048

    @property
    def layer_parameters(self) -> int:
        """12 h^2 + 13 h: four matrices with biases and two LayerNorms."""
        return 12 * self.hidden**2 + 13 * self.hidden

    @property
    def parameters(self) -> int:
        """All layers, token and position embeddings, the last LayerNorm."""
        embeddings = (self.vocabulary + self.sequence) * self.hidden
        return self.layers * self.layer_parameters + embeddings + 2 * self.hidden


# --8<-- [start:activations]
def activation_bytes(shape: Shape, batch: int, recompute: str) -> float:
    """Bytes one layer keeps for its backward pass by Korthikanti et al., 16-bit, no parallelism.

    recompute: none, 34 sbh + 5 a s^2 b; selective (attention core), 34 sbh; full, 2 sbh.
    """
    s, b, h, a = shape.sequence, batch, shape.hidden, shape.heads
    each = {"none": 34 + 5 * a * s / h, "selective": 34, "full": 2}
    return s * b * h * each[recompute]


# --8<-- [end:activations]


def flash_activation_bytes(shape: Shape, batch: int, dropout: bool) -> float:
    """The same with a fused attention that keeps q, k, v, its output and one fp32 per row.

    Counted from what PyTorch saves: without dropout the three masks of one byte go, and with
    them nothing else; two fp32 a token for each LayerNorm.
    """
    s, b, h, a = shape.sequence, batch, shape.hidden, shape.heads
    each = 34 if dropout else 34 - 2  # the two masks outside the attention
    return s * b * h * each + 4 * s * b * a + 2 * 2 * 4 * s * b


def state_bytes(parameters: int, per_parameter: int, zero: int = 0, ranks: int = 1) -> float:
    """Weights, gradients and optimiser state on one rank; see ZeRO, https://arxiv.org/abs/1910.02054.

    per_parameter: 16 (2 + 2 + 12, or all in fp32 4 + 4 + 8) or 18 (gradients summed in fp32,
    2 + 4 + 12). zero shards the optimiser (1), the gradients too (2), the weights too (3).
    """
    weights, gradients, optimizer = {16: (2, 2, 12), 18: (2, 4, 12), 160: (4, 4, 8)}[per_parameter]
    if zero >= 1:
        optimizer /= ranks
    if zero >= 2:
        gradients /= ranks
    if zero >= 3:
        weights /= ranks
    return parameters * (weights + gradients + optimizer)


def step_flop(shape: Shape, batch: int, causal: bool = True) -> float:
    """FLOP of the matrix products of one step, forward and twice that backward; no recomputation.

    causal: count only the half of the attention matrix that is used.
    """
    tokens = batch * shape.sequence
    matrices = 12 * shape.hidden**2 * shape.layers + shape.vocabulary * shape.hidden
    attention = 2 * shape.sequence * shape.hidden * shape.layers * (0.5 if causal else 1)
    return 6 * tokens * (matrices + attention)
