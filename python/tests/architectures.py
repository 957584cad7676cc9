# ===- architectures.py - Small models of transformers' architectures -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Architectures for which nothing in the project was tuned. `ARCHITECTURES[name]()` returns a model with random weights
and a function that makes inputs of a given size. Nothing is downloaded."""
import dataclasses
from collections.abc import Callable

import torch
import transformers

VOCABULARY = 96
# Parameters that most text models' configurations have; each configuration takes those that it knows.
TEXT = {"vocab_size": VOCABULARY, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
        "use_cache": False}
GROUPED = {**TEXT, "num_key_value_heads": 2}
IMAGE = {"image_size": 32, "num_channels": 3}
PATCHES = {**IMAGE, "patch_size": 8, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
           "num_attention_heads": 4}


@dataclasses.dataclass
class Architecture:
    model: torch.nn.Module
    inputs: Callable[[int, int], dict]
    """Makes named arguments for a batch size and a length; image models ignore the length."""

    @property
    def has_length(self):
        return self.inputs not in (image, large_image)


def ids(batch, length):
    return torch.randint(3, VOCABULARY, (batch, length))


def text(batch, length):
    return {"input_ids": ids(batch, length), "attention_mask": torch.ones(batch, length, dtype=torch.int64)}


def tokens(batch, length):
    return {"input_ids": ids(batch, length)}


def both(batch, length):
    return {"input_ids": ids(batch, length), "decoder_input_ids": ids(batch, length // 2 + 1)}


def image(batch, _):
    return {"pixel_values": torch.randn(batch, 3, 32, 32)}


def large_image(batch, _):
    return {"pixel_values": torch.randn(batch, 3, 64, 64)}


def waves(batch, length):
    return {"input_values": torch.randn(batch, 400 + 40 * length)}


def series(batch, _):
    return {"past_values": torch.randn(batch, 32, 3)}


def spectrum(batch, length):
    return {"input_features": torch.randn(batch, 16, 32), "decoder_input_ids": ids(batch, length)}


def make(kind, inputs, **config):
    """Makes a function that builds a model of this kind in eval mode; `config` are the parameters of its configuration.
    """
    def build():
        torch.manual_seed(0)
        model = transformers.AutoModel.from_config(transformers.AutoConfig.for_model(kind, **config))
        return Architecture(model.eval(), inputs)

    return build


ARCHITECTURES = {
    # Decoders.
    **{kind: make(kind, text, **GROUPED) for kind in (
        "cohere", "ernie4_5", "gemma", "gemma2", "glm", "granite", "mistral", "olmo", "olmo2", "phi", "phi3",
        "qwen2", "smollm3", "stablelm", "starcoder2")},
    "bloom": make("bloom", text, vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4, use_cache=False),
    "codegen": make("codegen", text, vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, use_cache=False),
    "falcon": make("falcon", text, **TEXT, new_decoder_architecture=True, num_kv_heads=2, alibi=False),
    "gpt_neo": make("gpt_neo", text, vocab_size=VOCABULARY, hidden_size=32, num_layers=2, num_heads=4,
                    attention_types=[[["global", "local"], 1]], window_size=4, use_cache=False),
    "gpt_neox": make("gpt_neox", text, **TEXT),
    "gptj": make("gptj", text, vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, use_cache=False),
    "helium": make("helium", text, **GROUPED, head_dim=8),
    "mamba": make("mamba", tokens, vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=4,
                  use_cache=False),
    "mixtral": make("mixtral", text, **GROUPED, num_local_experts=4, num_experts_per_tok=2,
                    experts_implementation="batched_mm"),
    "mpt": make("mpt", text, vocab_size=VOCABULARY, d_model=32, n_layers=2, n_heads=4, max_seq_len=64, use_cache=False),
    "nemotron": make("nemotron", text, **GROUPED),
    "opt": make("opt", text, vocab_size=VOCABULARY, hidden_size=32, ffn_dim=64, num_hidden_layers=2,
                num_attention_heads=4, word_embed_proj_dim=32, max_position_embeddings=64, use_cache=False),
    "persimmon": make("persimmon", text, **TEXT),
    "xglm": make("xglm", text, vocab_size=VOCABULARY, d_model=32, ffn_dim=64, num_layers=2, attention_heads=4,
                 use_cache=False),
    # Text encoders.
    **{kind: make(kind, text, **{**TEXT, "type_vocab_size": 2}) for kind in (
        "camembert", "electra", "ernie", "mpnet", "rembert", "roberta", "xlm-roberta")},
    "albert": make("albert", text, **TEXT, embedding_size=16),
    "convbert": make("convbert", text, **TEXT, embedding_size=32),
    "deberta": make("deberta", text, **TEXT, relative_attention=True, pos_att_type=["c2p", "p2c"]),
    "deberta-v2": make("deberta-v2", text, **TEXT, relative_attention=True, pos_att_type=["c2p", "p2c"]),
    "distilbert": make("distilbert", text, vocab_size=VOCABULARY, dim=32, hidden_dim=64, n_layers=2, n_heads=4),
    "fnet": make("fnet", tokens, **TEXT),
    "mobilebert": make("mobilebert", text, **TEXT, embedding_size=16, intra_bottleneck_size=16, true_hidden_size=16),
    "modernbert": make("modernbert", text, **{**TEXT, "num_hidden_layers": 3}, global_attn_every_n_layers=3,
                       local_attention=8, reference_compile=False),
    "roformer": make("roformer", text, **TEXT, embedding_size=32),
    "squeezebert": make("squeezebert", text, **TEXT, embedding_size=32),
    # Encoders with decoders.
    "bart": make("bart", both, vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2,
                 encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
                 max_position_embeddings=64, use_cache=False),
    "pegasus": make("pegasus", both, vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2,
                    encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
                    max_position_embeddings=64, use_cache=False),
    "t5": make("t5", both, vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, use_cache=False),
    # Images.
    "beit": make("beit", image, **PATCHES),
    "convnext": make("convnext", image, **IMAGE, depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32]),
    "deit": make("deit", image, **PATCHES),
    "dinov2": make("dinov2", image, **PATCHES),
    "efficientnet": make("efficientnet", large_image, **IMAGE, width_coefficient=0.25, depth_coefficient=0.25,
                         hidden_dim=320),
    "levit": make("levit", large_image, image_size=64, hidden_sizes=[16, 24, 32], num_attention_heads=[2, 3, 4],
                  depths=[1, 1, 1], key_dim=[4, 4, 4]),
    "mobilenet_v2": make("mobilenet_v2", large_image, image_size=64, depth_multiplier=0.25),
    "mobilevit": make("mobilevit", large_image, image_size=64, hidden_sizes=[16, 24, 32],
                      neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32]),
    "poolformer": make("poolformer", large_image, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    "pvt": make("pvt", large_image, image_size=64, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
                num_attention_heads=[1, 2, 3, 4]),
    "regnet": make("regnet", large_image, embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
                   groups_width=4),
    "resnet": make("resnet", large_image, embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    "segformer": make("segformer", large_image, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
                      num_attention_heads=[1, 2, 3, 4]),
    "swin": make("swin", image, image_size=32, patch_size=4, embed_dim=8, depths=[1, 2], num_heads=[2, 2], window_size=4),
    "swinv2": make("swinv2", image, image_size=32, patch_size=4, embed_dim=8, depths=[1, 2], num_heads=[2, 2],
                   window_size=4),
    # Audio and time series.
    "hubert": make("hubert", waves, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                   conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3), num_feat_extract_layers=2,
                   num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4),
    "patchtst": make("patchtst", series, num_input_channels=3, context_length=32, patch_length=8, patch_stride=8,
                     d_model=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64),
    "whisper": make("whisper", spectrum, vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2,
                    encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64,
                    num_mel_bins=16, max_source_positions=16, max_target_positions=64, pad_token_id=0, use_cache=False,
                    decoder_start_token_id=1),
}

# Models that do not compile, with the reason.
REFUSED = {"fnet": "a Fourier transform of a dynamic number of points"}

# Models that dynamo traces again at some lengths, with the reason.
FIXED = {"mamba": "its scan takes halves of the length, and another path where one is odd"}
