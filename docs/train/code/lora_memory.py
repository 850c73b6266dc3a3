"""Memory and time of a fine-tuning step: all weights, LoRA, and LoRA on weights of four bits.

Run:  python3 docs/train/code/lora_memory.py          (PyTorch and a GPU of 80 GB)

Layers of Llama 3.1 8B's shape with random weights, without positions; sequence 4096, batch 1,
BF16, flash attention, the loss not fused. Trained weights have an FP32 copy and two moments.
"""

import gc
import sys
from pathlib import Path
from statistics import NormalDist

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from timing import DEVICE, emit, trials, versions
from torch import nn
from torch.utils.checkpoint import checkpoint

BF16, ops = torch.bfloat16, nn.functional
H, FEED, HEADS, KV, V, S, BLOCK = 4096, 14336, 32, 8, 128256, 4096, 64
SIZES = {"q": (H, H), "k": (H, H // 4), "v": (H, H // 4), "o": (H, H),
         "gate": (H, FEED), "up": (H, FEED), "down": (FEED, H)}  # fmt: skip


def levels(n):
    """The quantiles of a normal distribution on one side of NF4's zero."""
    return [NormalDist().inv_cdf(0.9677083 - 0.4677083 * i / n) for i in range(n)]


UP, LOW = levels(8), levels(7)
TABLE = torch.tensor(sorted([0.0, *UP, *(-x for x in LOW)]), device=DEVICE) / UP[0]


def pack(w):
    """Four-bit codes, two to a byte, and the largest magnitude of each block of 64."""
    blocks = w.float().reshape(-1, BLOCK)
    scale = blocks.abs().amax(1, keepdim=True)
    middle = (TABLE[1:] + TABLE[:-1]) / 2
    codes = torch.bucketize(blocks / scale, middle).to(torch.uint8).reshape(-1, 2)
    return codes[:, 0] * 16 + codes[:, 1], scale


def unpack(codes, scale, shape):
    """The weights again, in BF16."""
    pairs = torch.stack((codes >> 4, codes & 15), 1).reshape(-1, BLOCK)
    return (TABLE.to(BF16)[pairs.int()] * scale.to(BF16)).reshape(shape)


class Frozen4(torch.autograd.Function):
    """x W^T, W unpacked in the forward and again in the backward pass; nothing of x is kept."""

    @staticmethod
    def forward(ctx, x, codes, scale, shape):
        ctx.save_for_backward(codes, scale)
        ctx.shape = shape
        return ops.linear(x, unpack(codes, scale, shape))

    @staticmethod
    def backward(ctx, dy):
        return dy @ unpack(*ctx.saved_tensors, ctx.shape), None, None, None


class Linear(nn.Module):
    """A product; frozen with a low-rank product beside it, or frozen in four bits as well."""

    def __init__(self, name, way, rank, targets):
        super().__init__()
        inside, outside = SIZES[name]
        self.shape, self.way = (outside, inside), way
        w = torch.randn(self.shape, device=DEVICE, dtype=BF16) * 0.02
        if way == "nf4":
            self.codes, self.scale = pack(w)
        else:
            self.w = nn.Parameter(w, requires_grad=way == "full")
        self.a = self.b = None
        if way != "full" and name in targets:
            self.a = nn.Parameter(torch.randn(rank, inside, device=DEVICE, dtype=BF16) * 0.02)
            self.b = nn.Parameter(torch.zeros(outside, rank, device=DEVICE, dtype=BF16))

    def forward(self, x):
        four = self.way == "nf4"
        y = Frozen4.apply(x, self.codes, self.scale, self.shape) if four else ops.linear(x, self.w)
        return y if self.a is None else y + ops.linear(ops.linear(x, self.a), self.b) * 2


class Layer(nn.Module):
    def __init__(self, way, rank, targets):
        super().__init__()
        train = way == "full"
        self.m = nn.ModuleDict({n: Linear(n, way, rank, targets) for n in SIZES})
        ones = torch.ones(2, H, device=DEVICE, dtype=BF16)
        self.norm = nn.Parameter(ones, requires_grad=train)

    def forward(self, x):
        m, n = self.m, ops.rms_norm(x, (H,), self.norm[0])
        heads = [m[k](n).view(1, S, -1, 128).transpose(1, 2) for k in "qkv"]
        y = ops.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
        x = x + m["o"](y.transpose(1, 2).reshape(1, S, H))
        n = ops.rms_norm(x, (H,), self.norm[1])
        return x + m["down"](ops.silu(m["gate"](n)) * m["up"](n))


class Adam:
    """One tensor after the other: an FP32 copy, two moments, the BF16 weight written back."""

    def __init__(self, weights):
        self.all = [
            (w, w.detach().float(), *torch.zeros(2, *w.shape, device=DEVICE)) for w in weights
        ]

    @torch.no_grad()
    def step(self):
        for w, copy, mean, square in self.all:
            g = w.grad.float()
            mean.lerp_(g, 0.1)
            square.lerp_(g * g, 0.05)
            copy.addcdiv_(mean, square.sqrt().add_(1e-8), value=-1e-5)
            w.copy_(copy)
            w.grad = None


def measure(layers, way, rank, targets, recompute):
    """Print what one way takes."""
    gc.collect()
    torch.cuda.empty_cache()
    stack = nn.ModuleList(Layer(way, rank, targets) for _ in range(layers))
    table = nn.Parameter(torch.randn(V, H, device=DEVICE, dtype=BF16) * 0.02, way == "full")
    head = nn.Parameter(torch.randn(V, H, device=DEVICE, dtype=BF16) * 0.02, way == "full")
    trained = [w for w in (*stack.parameters(), table, head) if w.requires_grad]
    adam = Adam(trained)
    tokens = torch.randint(V, (1, S + 1), device=DEVICE)
    used = torch.cuda.memory_allocated
    kept = []

    def step():
        x = ops.embedding(tokens[:, :-1], table)
        if way != "full":
            x.requires_grad_()  # checkpoints need an input that wants a gradient
        for layer in stack:
            x = checkpoint(layer, x, use_reentrant=False) if recompute else layer(x)
        kept.append(used())
        loss = ops.cross_entropy(ops.linear(x, head).float().view(-1, V), tokens[0, 1:])
        del x
        loss.backward()
        adam.step()

    how = {"layers": layers, "way": way, "rank": rank, "targets": targets and len(targets.split()),
           "recompute": recompute}  # fmt: skip
    emit("trained", "1", [sum(w.numel() for w in trained)], **how)
    rest = used()
    step()
    torch.cuda.reset_peak_memory_stats()
    seconds = trials(step, 7)
    emit("rest", "B", [rest], **how)
    emit("layers_keep", "B", [kept[-1] - used()], **how)
    emit("peak", "B", [torch.cuda.max_memory_allocated()], **how)
    emit("step", "s", seconds, **how)


versions()
torch.manual_seed(7)
EVERY = " ".join(SIZES)
for layers, way, rank, targets, recompute in [
    (8, "full", 0, "", False), (8, "full", 0, "", True),
    (8, "lora", 16, EVERY, False), (8, "lora", 16, EVERY, True), (8, "lora", 16, "q v", False),
    (8, "lora", 256, EVERY, False), (8, "nf4", 16, EVERY, False), (8, "nf4", 16, EVERY, True),
    (32, "lora", 16, EVERY, False), (32, "lora", 16, EVERY, True),
    (32, "nf4", 16, EVERY, False), (32, "nf4", 16, EVERY, True),
]:  # fmt: skip
    measure(layers, way, rank, targets, recompute)
