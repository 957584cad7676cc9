# ===- models.py - The models of the tests and the workloads of the benchmark --===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch modules with random weights and fixed seeds: what export_models.py writes and benchmark.py runs.

`MODELS[name]()` and `WORKLOADS[name]()` return a Case. Nothing is downloaded.
"""
import dataclasses
import typing
import warnings

warnings.filterwarnings("ignore")

import torch
import torch.nn.functional as F
from torch import nn

Dim = torch.export.Dim


@dataclasses.dataclass
class Case:
    """A model, the arguments it is exported with, and the inputs to test it with.

    `dynamic` is torch.export's dynamic_shapes; `sizes` holds arguments of other sizes that the same archive must take;
    `calls` holds the arguments of consecutive calls on one instance, for a model with state; `grad` says whether the
    model is exported with gradients enabled, which leaves wrapper nodes in the archive.
    """

    model: nn.Module
    args: tuple
    dynamic: typing.Any = None
    sizes: list = dataclasses.field(default_factory=list)
    calls: list = dataclasses.field(default_factory=list)
    grad: bool = False


# --- Modules ----------------------------------------------------------------------------------------------------------


class MLP(nn.Module):
    """Linear layers, each followed by the exact GELU."""

    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(widths[:-1], widths[1:]))

    def forward(self, x):
        for layer in self.layers:
            x = F.gelu(layer(x))
        return x


class MixedMLP(nn.Module):
    """Two linear layers whose tail mixes a bfloat16 buffer, an int64 constant and a literal into float32."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(16, 32)
        self.down = nn.Linear(32, 4)
        self.register_buffer("scale", torch.linspace(0.5, 2.0, 4).to(torch.bfloat16))
        self.steps = torch.arange(4)

    def forward(self, x):
        y = self.down(F.gelu(self.up(x)))
        return y * self.scale.float() + self.steps + 3


class RecommendationModel(nn.Module):
    """DLRM: summed embedding bags, a dense MLP, dot products of all pairs of features, a top MLP."""

    def __init__(self, tables, rows, width=16, dense=13, hidden=64):
        super().__init__()
        features = tables + 1
        self.bags = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables))
        self.dense = nn.Sequential(nn.Linear(dense, hidden), nn.ReLU(), nn.Linear(hidden, width), nn.ReLU())
        pairs = features * (features - 1) // 2
        self.head = nn.Sequential(nn.Linear(width + pairs, hidden), nn.ReLU(), nn.Linear(hidden, 1), nn.Sigmoid())
        self.register_buffer("pairs", torch.tril_indices(features, features, offset=-1))

    def forward(self, dense, indices, offsets):
        x = self.dense(dense)
        rows = [x]
        for table, bag in enumerate(self.bags):
            rows.append(bag(indices[table], offsets[table]))
        features = torch.stack(rows, dim=1)
        products = features @ features.mT
        first, second = self.pairs[0], self.pairs[1]
        return self.head(torch.cat([x, products[:, first, second]], dim=1))


class DecoderBlock(nn.Module):
    """Pre-norm: RMS norm, causal attention with one projection for q, k and v, gated feed-forward."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.attention_norm, self.feed_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.attention_norm(x)).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        y = self.feed_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Sequential):
    def __init__(self, layers, width, heads, hidden):
        super().__init__(*(DecoderBlock(width, heads, hidden) for _ in range(layers)))


class LanguageModel(nn.Module):
    """Token and position embeddings, decoder blocks, norm, and logits through the tied embedding."""

    def __init__(self, vocabulary=128, positions=64, layers=2, width=48, heads=4, hidden=128):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.blocks = Decoder(layers, width, heads, hidden)
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        return F.linear(self.norm(self.blocks(x)), self.tokens.weight)


class StridedCNN(nn.Module):
    """Two strided stages with a residual block each, of any height and width; upsampled, pooled and classified."""

    def __init__(self, classes=5):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.block = nn.Conv2d(8, 8, 3, padding=1)
        self.down = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.wide = nn.Conv2d(12, 12, 3, padding=2, dilation=2)
        self.norm = nn.BatchNorm2d(12)
        self.head = nn.Linear(12, classes)
        self.eval()

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = x + F.relu(self.block(x))
        fine = F.max_pool2d(x, 3, stride=2, padding=1)
        x = F.relu(self.norm(self.down(x)))
        x = x + self.wide(x)
        return self.head(x.mean((2, 3))), F.interpolate(x, scale_factor=2.0, mode="bilinear"), fine


class Bottleneck(nn.Module):
    """ResNet's block of three convolutions: narrower, 3x3 with the stride, four times as wide."""

    def __init__(self, channels, width, stride=1):
        super().__init__()
        sizes = (channels, width, 1, 1), (width, width, 3, stride), (width, 4 * width, 1, 1)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Conv2d(n, m, size, stride=step, padding=size // 2, bias=False), nn.BatchNorm2d(m))
            for n, m, size, step in sizes)
        self.shortcut = None
        if stride > 1 or channels != 4 * width:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, 4 * width, 1, stride=stride, bias=False),
                                          nn.BatchNorm2d(4 * width))

    def forward(self, x):
        first, second, third = self.layers
        y = third(F.relu(second(F.relu(first(x)))))
        return F.relu(y + (self.shortcut(x) if self.shortcut else x))


class ResNet(nn.Module):
    """A 7x7 stem, stages of blocks of which all but the first halve the image, the mean, and a classifier."""

    def __init__(self, depths, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(64))
        blocks, channels = [], 64
        for stage, depth in enumerate(depths):
            for i in range(depth):
                blocks.append(Bottleneck(channels, 64 << stage, 2 if stage and not i else 1))
                channels = 4 * (64 << stage)
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.stem(x)), 3, stride=2, padding=1)
        return self.head(self.blocks(x).mean((2, 3)))


def convolution_stage(batch):
    """One 3x3 convolution of ResNet's first stage."""
    return Case(nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU()), (torch.randn(batch, 64, 56, 56),))


class AfterStride(nn.Module):
    """Ops that depend on the size of a dim, on dims that strided ops have halved."""

    def forward(self, x):
        x = F.max_pool2d(x, 2)
        small = F.avg_pool2d(x, 3, stride=2, padding=1)
        edges = F.pad(x, (1, 2, 0, 1)), F.pad(x, (1, 1, 1, 1), mode="reflect"), F.pad(x, (2, 0, 1, 0), mode="replicate")
        joined = sum(e.mean((2, 3)) for e in edges)
        windows = small.unfold(2, 2, 1).sum(-1)
        resized = F.interpolate(small, size=x.shape[2:], mode="nearest") + x
        return (joined, windows, resized, small[..., -1, :], small[..., -1], torch.topk(small, 2, dim=2).values,
                torch.diff(x, dim=3), F.interpolate(small, size=(5, 3), mode="bilinear"), F.unfold(small, 2))


class ShapeArithmetic(nn.Module):
    """Splits, merges, concatenates and slices dynamic dims."""

    def forward(self, x, y):
        halves = x.reshape(2, x.shape[0] // 2, x.shape[1]).sum(0)
        return halves, torch.cat([y, x]), x[2:, 1::2], y.mT.flatten()


class RunningState(nn.Module):
    """A buffer and an argument that every call changes in place, the argument through a view of it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3, 5))

    def forward(self, x, history):
        self.total.add_(x)
        history[:, 1:].copy_(x[:, :-1] + history[:, :1])
        return self.total.amax(1) + history.mean(1)


class CachedDecoder(nn.Module):
    """One decode step of an attention layer: keys and values are in buffers, written at a position."""

    def __init__(self, vocabulary=64, width=32, heads=4, length=12):
        super().__init__()
        self.heads, self.length = heads, length
        self.tokens = nn.Embedding(vocabulary, width)
        self.norm = nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        shape = (1, heads, length, width // heads)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def forward(self, token, position):
        x = self.tokens(token)
        q, k, v = self.qkv(self.norm(x)).view(1, 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        seen = torch.arange(self.length, device=token.device) <= position
        mixed = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=seen[None, None, None, :])
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return F.linear(x, self.tokens.weight)


class DecodeLayer(nn.Module):
    """A layer of a Llama-like decoder for one token: RMS norms, rotary embedding, grouped queries, a static cache."""

    def __init__(self, width, heads, groups, head, hidden, length):
        super().__init__()
        self.heads, self.groups, self.head = heads, groups, head
        linear = lambda n, m: nn.Linear(n, m, bias=False)
        self.attention_norm, self.feed_norm = nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)
        self.q, self.out = linear(width, heads * head), linear(heads * head, width)
        self.k, self.v = linear(width, groups * head), linear(width, groups * head)
        self.gate, self.up, self.down = linear(width, hidden), linear(width, hidden), linear(hidden, width)
        self.register_buffer("keys", torch.zeros(1, groups, length, head))
        self.register_buffer("values", torch.zeros(1, groups, length, head))

    def forward(self, x, position, cos, sin, seen):
        def rotate(y):
            first, second = y.chunk(2, -1)
            return y * cos + torch.cat([-second, first], -1) * sin

        y = self.attention_norm(x)
        q, k, v = (p(y).view(1, 1, -1, self.head).transpose(1, 2) for p in (self.q, self.k, self.v))
        self.keys.index_copy_(2, position, rotate(k))
        self.values.index_copy_(2, position, v)
        mixed = F.scaled_dot_product_attention(rotate(q), self.keys, self.values, attn_mask=seen, enable_gqa=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        y = self.feed_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class DecodeStep(nn.Module):
    """One token through a Llama-like decoder, whose keys and values are written at a position."""

    def __init__(self, layers=3, vocabulary=128, width=256, heads=4, groups=2, head=64, hidden=512, length=64):
        super().__init__()
        self.length, self.tokens = length, nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(DecodeLayer(width, heads, groups, head, hidden, length) for _ in range(layers))
        self.norm, self.logits = nn.RMSNorm(width, eps=1e-5), nn.Linear(width, vocabulary, bias=False)
        self.register_buffer("rates", 10000.0 ** (-torch.arange(0, head, 2) / head))

    def forward(self, token, position):
        x = self.tokens(token)
        angles = torch.cat([position[:, None] * self.rates[None]] * 2, -1)
        seen = (torch.arange(self.length, device=token.device) <= position)[None, None, None, :]
        for layer in self.layers:
            x = layer(x, position, angles.cos().to(x.dtype), angles.sin().to(x.dtype), seen)
        return self.logits(self.norm(x))


class AutocastMLP(nn.Module):
    """An attention head and a linear layer under autocast, and a part of it outside autocast."""

    def __init__(self, width=24):
        super().__init__()
        self.qkv, self.out, self.norm = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            weights = torch.softmax(q @ k.mT, dim=-1)
            with torch.autocast("cpu", enabled=False):
                scale = self.out(x).amax(-1, keepdim=True)
            mixed = self.norm(torch.cat([x, self.out(weights @ v)]))
            loss = F.mse_loss(q, k)
        return mixed, weights * scale, loss


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


class Field(nn.Module):
    """A transformers model called with one argument, giving one field of its result."""

    def __init__(self, model, argument, field, **options):
        super().__init__()
        self.model, self.argument, self.field, self.options = model, argument, field, options

    def forward(self, x):
        return getattr(self.model(**{self.argument: x}, **self.options), self.field)


class Captioner(nn.Module):
    """A transformers model of vision and text: token ids in which image tokens are replaced by the image's features.

    The first `prefix` tokens, where it is given, attend to each other in both directions.
    """

    def __init__(self, model, prefix=None):
        super().__init__()
        self.model, self.prefix = model, prefix

    def forward(self, ids, image):
        options = {}
        if self.prefix:
            suffix = torch.arange(ids.shape[1]) >= self.prefix
            options = {"token_type_ids": suffix.long().expand(ids.shape), "attention_mask": torch.ones_like(ids)}
        return self.model(input_ids=ids, pixel_values=image, use_cache=False, **options).logits


# --- Models -----------------------------------------------------------------------------------------------------------


def transformers_model(kind, dtype=torch.float32, causal=False, **config):
    """A model of the transformers library in a small size, attention through scaled_dot_product_attention."""
    import transformers

    cfg = getattr(transformers, kind[0])(**config)
    cfg._attn_implementation = "sdpa"
    model = getattr(transformers, kind[1])(cfg).eval().to(dtype)
    if causal:
        return Field(model, "input_ids", "logits", use_cache=False)
    argument = "pixel_values" if "image_size" in config else "input_values" if "conv_dim" in config else "input_ids"
    return Field(model, argument, "last_hidden_state")


SIZES = {
    "hidden_size": 64, "intermediate_size": 160, "num_hidden_layers": 2, "num_attention_heads": 4,
}
TOKENS = {"vocab_size": 256, "max_position_embeddings": 128, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


def ids(*shape):
    return torch.randint(3, 256, shape)


def llama(layers=2):
    return transformers_model(("LlamaConfig", "LlamaForCausalLM"), causal=True, num_key_value_heads=2,
                              **SIZES | TOKENS | {"num_hidden_layers": layers})


def llama_dynamic():
    dims = {"x": {0: Dim("batch", min=1, max=8), 1: Dim("length", min=2, max=128)}}
    return Case(llama(), (ids(2, 16),), dims, [(ids(1, 2),), (ids(3, 17),), (ids(8, 128),)])


def qwen3(dtype=torch.float32):
    model = transformers_model(("Qwen3Config", "Qwen3ForCausalLM"), dtype, causal=True, num_key_value_heads=2,
                               head_dim=16, **SIZES | TOKENS)
    return Case(model, (ids(1, 16),))


def gpt2():
    return Case(transformers_model(("GPT2Config", "GPT2LMHeadModel"), causal=True, n_embd=64, n_layer=2, n_head=4,
                                   n_positions=128, vocab_size=256, bos_token_id=1, eos_token_id=2), (ids(1, 16),))


def bert(dtype=torch.float32):
    return Case(transformers_model(("BertConfig", "BertModel"), dtype, vocab_size=256, **SIZES), (ids(2, 16),))


def vit():
    return Case(transformers_model(("ViTConfig", "ViTModel"), image_size=32, patch_size=8, **SIZES),
                (torch.randn(1, 3, 32, 32),))


IMAGE_TOKEN = 255


def prompt(batch, length, image_tokens=16):
    """Token ids with the place of one image in each row, and the images."""
    row = torch.randint(3, IMAGE_TOKEN, (batch, length))
    row[:, 1:1 + image_tokens] = IMAGE_TOKEN
    return row, torch.randn(batch, 3, 32, 32)


def captioner(kind, vision, text, prefix=None, **config):
    """A vision tower, a projector and a text model, of small sizes."""
    import transformers

    tower = getattr(transformers, vision)(hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                          num_attention_heads=4, image_size=32, patch_size=8)
    words = getattr(transformers, text)(num_key_value_heads=2, head_dim=16, **SIZES | TOKENS)
    cfg = getattr(transformers, kind + "Config")(vision_config=tower, text_config=words, image_token_id=IMAGE_TOKEN,
                                                 **config)
    cfg._attn_implementation = "sdpa"
    return Captioner(getattr(transformers, kind + "ForConditionalGeneration")(cfg).eval(), prefix)


def llava():
    return Case(captioner("Llava", "CLIPVisionConfig", "LlamaConfig", image_seq_length=16), prompt(2, 24), grad=True)


def paligemma():
    dims = {"ids": {0: (batch := Dim("batch", min=1, max=8)), 1: Dim("length", min=18, max=64)}, "image": {0: batch}}
    return Case(captioner("PaliGemma", "SiglipVisionConfig", "GemmaConfig", prefix=20, projection_dim=64), prompt(2, 24),
                dims, [prompt(1, 18), prompt(3, 33), prompt(2, 64)], grad=True)


def autocast():
    return Case(AutocastMLP(), (torch.randn(5, 24),), {"x": {0: Dim("rows", min=2, max=64)}},
                [(torch.randn(n, 24),) for n in (2, 64)])


def mlp():
    return Case(MixedMLP(), (torch.randn(3, 16),), {"x": {0: Dim("batch", min=1, max=64)}},
                [(torch.randn(n, 16),) for n in (1, 2, 64)])


def shapes():
    dims = {"x": {0: 2 * Dim("half", min=2, max=32)}, "y": {0: Dim("rows", min=1, max=64)}}
    return Case(ShapeArithmetic(), (torch.randn(8, 6), torch.randn(5, 6)), dims,
                [(torch.randn(4, 6), torch.randn(1, 6)), (torch.randn(64, 6), torch.randn(64, 6))])


def images(model, low):
    """Of any height and width from `low` to 64: even and odd ones, and both ends of the range."""
    dims = {"x": {2: Dim("height", min=low, max=64), 3: Dim("width", min=low, max=64)}}
    sizes = [(low, low), (low, 64), (17, 30), (33, 19), (64, 63)]
    return Case(model, (torch.randn(2, 3, 16, 20),), dims, [(torch.randn(2, 3, h, w),) for h, w in sizes])


def wav2vec2():
    """Audio of any number of frames: strided convolutions ahead of the transformer."""
    model = transformers_model(("Wav2Vec2Config", "Wav2Vec2Model"), conv_dim=(16,) * 3, conv_stride=(5, 2, 2),
                               conv_kernel=(10, 3, 2), num_feat_extract_layers=3, num_conv_pos_embeddings=16,
                               num_conv_pos_embedding_groups=4, vocab_size=32, **SIZES)
    return Case(model, (torch.randn(1, 1600),), {"x": {1: Dim.DYNAMIC(min=400, max=16000)}},
                [(torch.randn(1, n),) for n in (400, 420, 1000, 2000, 3000)])


def recommendation(tables, rows, batch, bag=1):
    """`bag` indices a bag on average; bags are of unequal length where it is above 1."""
    starts = torch.arange(batch) * bag
    if bag > 1:
        starts[1:] -= torch.arange(1, batch) % 2
    return Case(RecommendationModel(tables, rows),
                (torch.randn(batch, 13), torch.randint(0, rows, (tables, batch * bag)), starts.repeat(tables, 1)))


def transformer():
    dims = {"ids": {0: Dim("batch", min=1, max=8), 1: Dim("length", min=2, max=64)}}
    token = lambda *shape: torch.randint(0, 128, shape)
    return Case(LanguageModel(), (token(2, 16),), dims, [(token(1, 2),), (token(3, 17),), (token(8, 5),)])


def running_state():
    calls = [(torch.randn(3, 5), torch.randn(3, 5))]
    # The second argument is carried: what the call left in it.
    calls += [(torch.randn(3, 5), None) for _ in range(3)]
    return Case(RunningState(), calls[0], calls=calls)


def cached_decoder():
    calls = [(torch.randint(0, 64, (1, 1)), torch.tensor([k])) for k in range(12)]
    return Case(CachedDecoder(), calls[0], calls=calls)


def decode_step(dtype=torch.float32):
    calls = [(torch.randint(0, 128, (1, 1)), torch.tensor([k])) for k in range(4)]
    model = DecodeStep().to(dtype)
    return Case(model, calls[0], calls=calls)


class Attentions(nn.Module):
    """Attention over rows and keys that fill no tile, causal, and over many keys."""

    def forward(self, *tensors):
        q, k, v, causal_q, causal_k, causal_v, many_q, many_k, many_v = tensors
        return (F.scaled_dot_product_attention(q, k, v),
                F.scaled_dot_product_attention(causal_q, causal_k, causal_v, is_causal=True),
                F.scaled_dot_product_attention(many_q, many_k, many_v))


def attentions(dtype):
    heads = lambda *shape: 2 * torch.randn(shape, dtype=dtype)
    return Case(Attentions(), (heads(2, 3, 100, 40), heads(2, 3, 77, 40), heads(2, 3, 77, 72),
                               heads(1, 4, 200, 64), heads(1, 4, 200, 64), heads(1, 4, 200, 64),
                               heads(1, 2, 96, 64), heads(1, 2, 1500, 64), heads(1, 2, 1500, 64)))


MODELS = {
    "mlp": mlp,
    "shapes": shapes,
    "strided_cnn": lambda: images(StridedCNN(), 8),
    "after_stride": lambda: images(AfterStride(), 12),
    "wav2vec2": wav2vec2,
    "dlrm": lambda: recommendation(tables=3, rows=100, batch=8, bag=2),
    "transformer": transformer,
    "llama": lambda: Case(llama(), (ids(1, 16),)),
    "llama_dynamic": llama_dynamic,
    "llama_8_layers": lambda: Case(llama(8), (ids(1, 16),)),
    "llama_grad": lambda: dataclasses.replace(llama_dynamic(), grad=True),
    "qwen3": qwen3,
    "gpt2": gpt2,
    "bert": bert,
    "vit": vit,
    "qwen3_bf16": lambda: qwen3(torch.bfloat16),
    "bert_f16": lambda: bert(torch.float16),
    "llava": llava,
    "paligemma": paligemma,
    "autocast": autocast,
    "attentions_f16": lambda: attentions(torch.float16),
    "attentions_bf16": lambda: attentions(torch.bfloat16),
    "running_state": running_state,
    "cached_decoder": cached_decoder,
    "decode_step": decode_step,
    "decode_step_bf16": lambda: decode_step(torch.bfloat16),
}


def attention(queries, keys, causal, heads=8, width=64):
    return Case(Function(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)),
                tuple(torch.randn(1, heads, n, width) for n in (queries, keys, keys)))


# --- Benchmark workloads ----------------------------------------------------------------------------------------------

WORKLOADS = {
    "gemm_1024": lambda: Case(Function(torch.matmul), (torch.randn(1024, 1024), torch.randn(1024, 1024))),
    "gemv_4096x14336": lambda: Case(nn.Linear(4096, 14336, bias=False), (torch.randn(1, 4096),)),
    "map_sin_sqrt_2^22": lambda: Case(Function(lambda a, b: torch.sqrt(torch.abs(torch.sin(a + b)))),
                                      (torch.randn(1 << 22), torch.randn(1 << 22))),
    "softmax_2048x2048": lambda: Case(Function(lambda x: torch.softmax(x, dim=-1)), (torch.randn(2048, 2048),)),
    "rmsnorm_2048x2048": lambda: Case(nn.RMSNorm(2048), (torch.randn(2048, 2048),)),
    "mlp_tiny_bs1": lambda: Case(MLP([64, 128, 128, 10]), (torch.randn(1, 64),)),
    "mlp_bs64": lambda: Case(MLP([512, 1024, 1024, 256]), (torch.randn(64, 512),)),
    "dlrm_3_bs256": lambda: recommendation(tables=3, rows=1000, batch=256),
    "decoder_4x512_s64": lambda: Case(Decoder(4, 512, 8, 1536), (torch.randn(1, 64, 512),)),
    "decoder_8x1024_s1": lambda: Case(Decoder(8, 1024, 16, 4096), (torch.randn(1, 1, 1024),)),
    "attention_1024": lambda: attention(1024, 1024, causal=False),
    "attention_1024_causal": lambda: attention(1024, 1024, causal=True),
    "attention_4096_causal": lambda: attention(4096, 4096, causal=True),
    "attention_s1_4096": lambda: attention(1, 4096, causal=False),
    "convolution_bs1": lambda: convolution_stage(1),
    "convolution_bs8": lambda: convolution_stage(8),
    "depthwise_bs1": lambda: Case(nn.Conv2d(128, 128, 3, padding=1, groups=128), (torch.randn(1, 128, 56, 56),)),
    "resnet50_bs1": lambda: Case(ResNet((3, 4, 6, 3)), (torch.randn(1, 3, 224, 224),)),
}


def make(name):
    """The case of that name; the same one every time."""
    torch.manual_seed(sum(map(ord, name)))
    case = (MODELS.get(name) or WORKLOADS[name])()
    case.model.eval()
    return case
