# ===- __init__.py - Language models ------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models: from a checkpoint folder to generated text. Needs the extra ``luminal[llm]``."""
from ._model import LLM, Completion, Stats, Stream
from ._sampling import Sampling

__all__ = ["LLM", "Completion", "Sampling", "Stats", "Stream"]
