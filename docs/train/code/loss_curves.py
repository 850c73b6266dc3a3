"""One small language model, trained again and again, each time with one fault planted.

    python3 docs/train/code/loss_curves.py [--only sound,rate_x10] [--slice 0:21] [--tiny]

Data: the Python files of the installed packages, as bytes, by sorted path; every fiftieth file is
held out. Each run prints the mean loss and median gradient norm (before clipping) of every ten
steps, the held-out loss of every fifty, and final numbers; one JSON object a line.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import site
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from timing import DEVICE, emit, synchronize, versions
from torch import Tensor, nn
from torch.nn import functional

VOCABULARY, EVERY = 256, 10


@dataclass(frozen=True)
class Size:
    """Of the model, its data and its runs."""

    width: int = 512
    layers: int = 8
    heads: int = 8
    context: int = 512
    train_bytes: int = 120_000_000
    shorter: int = 1  # all step numbers are divided by it
    batches: int = 1  # all batches are divided by it


@dataclass(frozen=True)
class Run:
    """What a run does; each differs from the sound one in what its name says."""

    name: str
    steps: int = 600
    seed: int = 0
    rate: float = 1e-3
    warmup: int = 60
    cosine: int = 0  # steps of the schedule; 0: all
    late: float = 1.0  # multiplies the rate from the middle on
    clip: float = 1.0  # 0: none
    batch: int = 64
    beta2: float = 0.95
    decay: float = 0.1
    init: float = 0.02  # standard deviation of all matrices
    dtype: str = "bf16"  # autocast over FP32 weights; pure_bf16; fp16: no scaling; fp16_scaled
    shift: int = 1  # how far ahead the labels lie
    causal: bool = True
    order: str = "random"  # sorted: the files as they lie; small: 1 MiB only; one: one batch
    padded: float = 0.0  # share of each sequence that is padding and counts in the loss
    noise: int = 0  # so many steps from the middle on have random bytes
    lose_state: bool = False  # the optimizer is made anew in the middle
    rewind: bool = False  # the data starts anew in the middle
    scale: float = 1.0  # of the loss
    frozen: int = 0  # layers that do not learn
    dropout: float = 0.0


RUNS = (
    *(Run("sound"), Run("rate_x3", rate=3e-3), Run("rate_x10", rate=1e-2)),
    *(Run("rate_x30", rate=3e-2), Run("rate_over_30", rate=3.3e-5), Run("no_warmup", warmup=1)),
    *(Run("no_clip", clip=0), Run("labels_same", shift=0), Run("labels_two_ahead", shift=2)),
    *(Run("no_mask", causal=False), Run("half_padding", padded=0.5)),
    *(Run("one_mib", order="small", steps=1000), Run("pure_bf16", dtype="pure_bf16")),
    *(Run("low_rate", rate=1e-4), Run("pure_bf16_low_rate", dtype="pure_bf16", rate=1e-4)),
    *(Run("fp16_unscaled", dtype="fp16"), Run("fp16_scaled", dtype="fp16_scaled")),
    *(Run("noise_5", noise=5), Run("noise_5_no_clip", noise=5, clip=0), Run("noise_50", noise=50)),
    *(Run("state_lost", lose_state=True), Run("data_rewound", rewind=True)),
    *(Run("one_batch", order="one", steps=200), Run("files_in_order", order="sorted")),
    *(Run("sound_1", seed=1), Run("sound_2", seed=2)),
    *(Run("no_warmup_1", seed=1, warmup=1), Run("no_warmup_2", seed=2, warmup=1)),
    *(Run("no_clip_1", seed=1, clip=0), Run("no_clip_2", seed=2, clip=0)),
    *(Run("half_frozen", frozen=4), Run("batch_8", batch=8)),
    *(Run("batch_8_low_rate", batch=8, rate=3.5e-4), Run("schedule_300", cosine=300)),
    *(Run("late_rate_x10", late=10.0), Run("beta2_0_999", beta2=0.999), Run("decay_x30", decay=3)),
    *(Run("init_x10", init=0.2), Run("init_x50", init=1.0), Run("loss_x8", scale=8.0)),
    Run("one_mib_dropout", order="small", steps=1000, dropout=0.2),
    Run("state_lost_rate_x3", lose_state=True, rate=3e-3),
    *(Run("rate_x3_no_warmup", rate=3e-3, warmup=1), Run("loss_x64_rate_x3", scale=64, rate=3e-3)),
)


class Block(nn.Module):
    """Attention and a feed-forward part, RMSNorm before each."""

    def __init__(self, size: Size, run: Run) -> None:
        super().__init__()
        w, self.heads, self.causal = size.width, size.heads, run.causal
        self.before, self.middle = nn.RMSNorm(w), nn.RMSNorm(w)
        self.qkv, self.out = nn.Linear(w, 3 * w, bias=False), nn.Linear(w, w, bias=False)
        self.up, self.down = nn.Linear(w, 4 * w, bias=False), nn.Linear(4 * w, w, bias=False)
        self.dropout = nn.Dropout(run.dropout)

    def forward(self, x: Tensor) -> Tensor:
        b, t, _ = x.shape
        q, k, v = self.qkv(self.before(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.dropout(self.out(a.transpose(1, 2).reshape(b, t, -1)))
        return x + self.dropout(self.down(functional.gelu(self.up(self.middle(x)))))


class Model(nn.Module):
    """A GPT over bytes, with learnt positions."""

    def __init__(self, size: Size, run: Run) -> None:
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, size.width)
        self.position = nn.Embedding(size.context, size.width)
        self.blocks = nn.ModuleList(Block(size, run) for _ in range(size.layers))
        self.norm = nn.RMSNorm(size.width)
        self.head = nn.Linear(size.width, VOCABULARY, bias=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=run.init)

    def forward(self, x: Tensor) -> Tensor:
        h = self.token(x) + self.position(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h))


def corpus(most: int) -> tuple[Tensor, Tensor]:
    """Bytes to train with, and those of every fiftieth file, held out."""
    train, held, count = bytearray(), bytearray(), 0
    for path in sorted(Path(site.getsitepackages()[0]).rglob("*.py"), key=lambda p: p.as_posix()):
        text = path.read_bytes() if path.is_file() else b""
        if not 200 < len(text) < 400_000:
            continue
        (train if count % 50 else held).extend(text + b"\n")
        count += 1
        if len(train) > most:
            break
    digest = hashlib.sha256(bytes(train)).hexdigest()
    emit("data", files=count, train_bytes=len(train), held_bytes=len(held), sha256=digest)
    return tuple(torch.frombuffer(t, dtype=torch.uint8).to(DEVICE) for t in (train, held))


class Training:
    """One run."""

    def __init__(self, size: Size, run: Run, train: Tensor, held: Tensor) -> None:
        torch.manual_seed(run.seed)
        self.size, self.run, self.held = size, run, held
        self.steps, self.warmup = run.steps // size.shorter, max(1, run.warmup // size.shorter)
        self.cosine = run.cosine // size.shorter or self.steps
        self.noise, self.batch = run.noise // size.shorter, run.batch // size.batches
        self.pure = run.dtype == "pure_bf16"
        self.half = torch.float16 if run.dtype.startswith("fp16") else torch.bfloat16
        self.model = Model(size, run).to(DEVICE, torch.bfloat16 if self.pure else torch.float32)
        for block in self.model.blocks[: run.frozen]:
            block.requires_grad_(False)
        self.scaler = torch.amp.GradScaler(DEVICE, enabled=run.dtype == "fp16_scaled")
        self.data = train[: (1 << 20) // size.shorter] if run.order == "small" else train
        self.draw = torch.Generator(DEVICE).manual_seed(100 + run.seed)
        self.span = torch.arange(size.context + 2, device=DEVICE)
        self.losses, self.norms = list[Tensor](), list[Tensor]()

    def optimizer(self) -> torch.optim.Optimizer:
        learns = [p for p in self.model.parameters() if p.requires_grad]
        betas = (0.9, self.run.beta2)
        return torch.optim.AdamW(learns, betas=betas, weight_decay=self.run.decay, fused=True)

    def rate(self, step: int) -> float:
        """Linear warm-up, then a cosine to a tenth; a schedule too short rises again."""
        if step < self.warmup:
            return self.run.rate * (step + 1) / self.warmup
        at = (step - self.warmup) / max(1, self.cosine - self.warmup)
        times = self.run.late if step >= self.steps // 2 else 1.0
        return times * self.run.rate * (0.1 + 0.45 * (1 + math.cos(math.pi * at)))

    def rows(self, step: int) -> Tensor:
        last = len(self.data) - self.size.context - 2
        if self.run.order == "one" or (self.run.rewind and step == self.steps // 2):
            self.draw.manual_seed(100 + self.run.seed)
        at = torch.randint(last, (self.batch,), generator=self.draw, device=DEVICE)
        if self.run.order == "sorted":
            number = step * self.batch + torch.arange(self.batch, device=DEVICE)
            at = number * self.size.context % last
        rows = self.data[at[:, None] + self.span].long()
        if self.steps // 2 <= step < self.steps // 2 + self.noise:
            rows = torch.randint(VOCABULARY, rows.shape, generator=self.draw, device=DEVICE)
        if self.run.padded:
            rows[:, int(self.size.context * (1 - self.run.padded)) :] = 0
        return rows

    def loss(self, rows: Tensor, shift: int) -> Tensor:
        t = self.size.context
        with torch.autocast(DEVICE, dtype=self.half, enabled=not self.pure):
            logits = self.model(rows[:, :t])
        labels = rows[:, shift : t + shift].flatten()
        return functional.cross_entropy(logits.float().flatten(0, 1), labels)

    @torch.no_grad()
    def test(self, shift: int, noise: bool = False) -> float:
        """The loss of 64 fixed pieces of held-out files, or of random bytes."""
        self.model.eval()
        draw = torch.Generator(DEVICE).manual_seed(7)
        last = len(self.held) - self.size.context - 2
        at = torch.randint(last, (64 // self.size.batches,), generator=draw, device=DEVICE)
        rows = self.held[at[:, None] + self.span].long()
        if noise:
            rows = torch.randint(VOCABULARY, rows.shape, generator=draw, device=DEVICE)
        value = self.loss(rows, shift)
        self.model.train()
        return float(value)

    def all(self) -> None:
        """All steps."""
        for step in range(self.steps):
            if step == 0 or (step == self.steps // 2 and self.run.lose_state):
                optimizer = self.optimizer()
            if step % (5 * EVERY) == 0:
                self.put("held", self.test(self.run.shift), step=step)
            for group in optimizer.param_groups:
                group["lr"] = self.rate(step)
            loss = self.loss(self.rows(step), self.run.shift)
            optimizer.zero_grad(set_to_none=True)
            self.scaler.scale(loss * self.run.scale).backward()
            self.scaler.unscale_(optimizer)
            most = self.run.clip or math.inf
            self.norms.append(nn.utils.clip_grad_norm_(self.model.parameters(), most).detach())
            self.scaler.step(optimizer)
            self.scaler.update()
            self.losses.append(loss.detach())
        self.put("held", self.test(self.run.shift), step=self.steps)

    def put(self, result: str, value: float, **labels: int) -> None:
        """Print a line, if there is a number."""
        if math.isfinite(value):
            emit(result, "value", [value], run=self.run.name, **labels)

    def tell(self) -> None:
        """Print the curves and the final numbers."""
        losses, norms = (torch.stack(v).float().cpu() for v in (self.losses, self.norms))
        for at in range(0, self.steps, EVERY):
            self.put("loss", losses[at : at + EVERY].mean().item(), step=at + EVERY // 2)
            self.put("gradient", norms[at : at + EVERY].median().item(), step=at + EVERY // 2)
        late = slice(min(100, self.steps // 2), None)
        most = self.run.clip or 1.0
        final = {"first_loss": losses[0], "first_gradient": norms[0]}
        final |= {"last_loss": losses[-50:].mean(), "largest_loss": losses[late].max()}
        final |= {"largest_gradient": norms[late].max(), "not_finite": (~losses.isfinite()).sum()}
        final |= {"clipped": (norms[late] > most).float().mean()}
        for name, value in final.items():
            self.put(name, float(value))
        self.put("noise_loss", self.test(self.run.shift, noise=True))
        for block in self.model.blocks:
            block.causal = True
        self.put("true_held", self.test(1))
        if self.run.noise or self.run.lose_state or self.run.rewind or self.run.late != 1:
            middle = self.steps // 2
            for step in range(middle - 5, min(middle + 60, self.steps)):
                self.put("around_loss", losses[step].item(), step=step)
                self.put("around_gradient", norms[step].item(), step=step)


def main() -> None:
    """All runs, or some."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="names, with commas")
    parser.add_argument("--slice", default=":", help="such as 0:21")
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    options = parser.parse_args()
    size = Size()
    if options.tiny:
        size = Size(64, 4, 2, 64, 4_000_000, shorter=10, batches=8)
    versions()
    train, held = corpus(size.train_bytes)
    parameters = sum(p.numel() for p in Model(size, RUNS[0]).parameters())
    emit("setting", parameters=parameters, **asdict(size))
    Training(size, replace(RUNS[0], steps=50), train, held).all()  # warms the machine up
    first, last = (int(n) if n else None for n in options.slice.split(":"))
    names = options.only.split(",") if options.only else [run.name for run in RUNS]
    for run in (r for r in RUNS[first:last] if r.name in names):
        start = time.perf_counter()
        training = Training(size, run, train, held)
        training.all()
        synchronize()
        training.tell()
        changed = {k: v for k, v in asdict(run).items() if v != getattr(RUNS[0], k)}
        emit("run", seconds=time.perf_counter() - start, changed=changed)


if __name__ == "__main__":
    main()
