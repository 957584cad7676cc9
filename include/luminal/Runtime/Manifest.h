//===- Manifest.h - What an artifact says about itself --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contents of an artifact's manifest.json (docs/Architecture.md shows an
// example). The compiler fills a Manifest and prints it, the runtime parses it:
// both check it with `verify`, so that what is written can be read. A verified
// Manifest is safe to execute as far as data can tell: every index is in its
// table, every expression uses declared symbols only, every kernel argument is
// a buffer that may be read or written this way. Sizes are checked where the
// symbols get values (Context.h).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_RUNTIME_MANIFEST_H
#define LUMINAL_RUNTIME_MANIFEST_H

#include "luminal/Runtime/Launch.h"
#include "luminal/Support/DType.h"
#include "luminal/Support/Expr.h"
#include "luminal/Support/IndexCheck.h"
#include "luminal/Support/ModulePaths.h"
#include "luminal/Support/Result.h"
#include "luminal/Support/SymbolSolver.h"
#include "luminal/Support/Tensor.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::runtime {

/// The version this library writes, and the only one it reads.
constexpr int64_t kManifestVersion = 3;
/// Alignment in bytes of what the runtime allocates and of constants.bin and
/// weights.bin in the artifact.
constexpr uint64_t kAlignment = 64;
/// The most variants of a program; each repeats what all have in common.
constexpr size_t kMaxVariants = 64;
/// The least alignment that kernels may count on for any buffer.
constexpr uint64_t kBufferAlignment = 16;

/// What the code runs on. All steps have launches of this kind of target.
struct TargetSpec {
  std::string kind = "cpu";
  /// Of a CPU as LLVM spells it ("x86_64"), of a GPU as PTX does ("sm_90a").
  std::string arch;
  /// Only for the reader.
  std::string cpu;
  /// Names of isa features, as LLVM spells them, that the code may use; see
  /// CpuFeatures.h.
  std::vector<std::string> features;
  /// Of a GPU: whether the artifact holds device.cubin, assembled for `arch`.
  /// Where not, the driver compiles device.ptx.
  std::optional<bool> cubin;
};

/// Symbols are sorted by name; a kernel finds their values in this order.
using SymbolSpec = NamedRange;

struct TensorSpec {
  std::string name;
  DType dtype = DType::F32;
  /// Extents over the symbols; row-major, contiguous.
  std::vector<Expr> shape;
};

struct InputSpec : TensorSpec {
  uint32_t buffer = 0;
  bool state = false;
  /// The weight that holds a state's initial value. Such a state lives in the
  /// context; one without lives in the caller's memory, which calls write to.
  std::optional<uint32_t> initial;
};

struct OutputSpec : TensorSpec {
  uint32_t buffer = 0;
  /// The input (a state) of which this is the new value; such an output is not
  /// a user output.
  std::optional<uint32_t> updates;
  /// Where it is false, a call fails with this message; an i1 without dims, and
  /// not a user output either.
  std::optional<std::string> assertion;
  bool isUsers() const { return !updates && !assertion; }
};

/// `bytes` bytes at `offset` in `member` of the weights archive (a name without
/// the archive's root folder), or in weights.bin. Extents are constants.
struct WeightSpec : TensorSpec {
  /// Absent where the weight is only the initial value of a state.
  std::optional<uint32_t> buffer;
  std::string member;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct BufferSpec {
  enum class Kind : uint8_t {
    Input,
    Output,
    Weight,
    Constant,
    Prepared,
    Arena,
    Alias,
    Counters
  };
  Kind kind = Kind::Arena;
  /// Constant: in constants.bin. Arena: in the arena, `offset` a multiple of
  /// kAlignment. Alias: in the buffer `of`. Prepared: the output `of` of
  /// Manifest::prepare. Counters have `bytes` only, which are zero between
  /// calls. Unused for the others.
  Expr offset, bytes;
  uint32_t of = 0;
};

struct StepSpec {
  /// A symbol of the code; empty for a step of a library or of a user's code.
  std::string kernel;
  /// The name shown in errors and profiles: its kind, then ` at FILE:LINE`.
  /// `Manifest::nameSteps` puts the modules of its nodes in the place of these.
  std::string name;
  /// The nodes of the graph that it computes, by name, operands first.
  std::vector<std::string> nodes;
  std::string_view getKind() const {
    return std::string_view(name).substr(0, name.find(' '));
  }
  /// The kernel, the user's function or the library, for errors and profiles.
  std::string_view getCodeName() const {
    if (!kernel.empty())
      return kernel;
    const CustomCode *custom = getCustomCode(launch);
    return custom ? std::string_view(custom->entry) : getLibraryName(launch);
  }
  /// Operands, then results, then what the kernel needs while it runs only.
  std::vector<uint32_t> buffers;
  /// How many of the buffers are results, and how many are workspace: memory
  /// of the arena and counters. Both are written.
  uint32_t results = 1, workspace = 0;
  LaunchSpec launch;
  /// Bytes moved and operations, for the profile; 0 if absent.
  Expr traffic = 0, flops = 0;

  /// The first buffer that is written.
  size_t getFirstResult() const { return buffers.size() - workspace - results; }
  /// The first that is workspace.
  size_t getFirstWorkspace() const { return buffers.size() - workspace; }
};

struct Manifest {
  std::string producer;
  TargetSpec target;
  std::vector<SymbolSpec> symbols;
  /// What each call gives beside its tensors. A variant has none of its own.
  std::vector<IntegerInput> integers;
  /// Conditions on the symbols under which every index is inside its buffer;
  /// checked whenever symbols get values.
  std::vector<Requirement> requirements;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<WeightSpec> weights;
  /// ZipArchive::getWeightsDigest of the archive the weights came from; empty
  /// if any file with the right names will do.
  std::string weightsDigest;
  bool weightsEmbedded = false;
  /// The file that the weights came from: its path from the artifact's folder,
  /// in it or below; empty if unknown.
  std::string weightsFile;
  std::vector<BufferSpec> buffers;
  Expr arenaBytes = 0;
  std::vector<StepSpec> steps;
  /// What runs once when weights are bound; null if nothing does. It has the
  /// same target and the same weights (but for their buffers), no symbols and
  /// no inputs; its outputs are the prepared buffers of this one.
  std::shared_ptr<const Manifest> prepare;
  /// The same program for narrower ranges of its symbols. A call runs the first
  /// whose ranges hold, and this one where none does. Each has the same target,
  /// inputs, outputs and weights (but for their buffers), the same symbols (but
  /// for their ranges) and the same `prepare`, but buffers, steps and
  /// requirements of its own, and no variants.
  std::vector<std::shared_ptr<const Manifest>> variants;
  /// The modules of the nodes of all its steps: a member beside the manifest.
  ModuleTable modules;

  /// Names steps for the modules of `table`, "layers.3.attn.q_proj (gemm)";
  /// those whose nodes it does not have keep their names.
  void nameSteps(const ModuleTable &table);
  /// Parses and verifies; errors begin with `name` and the JSON path.
  static Result<Manifest> parse(std::string_view text, std::string name);
  /// The JSON text, the same bytes for equal manifests.
  std::string str() const;
  /// Everything that can be checked without values of the symbols.
  Status verify() const;

  /// "s in [1, 1]" for each symbol whose range is narrower than that of
  /// `program`, of which this is a variant.
  std::string getGuardText(const Manifest &program) const;

  /// The buffer that `index` finally aliases; `index` itself if not an alias.
  uint32_t rootBuffer(uint32_t index) const;
};

std::string_view bufferKindName(BufferSpec::Kind kind);
std::optional<BufferSpec::Kind> bufferKindFromName(std::string_view name);

/// "f32[s77, 16]".
std::string typeText(const TensorSpec &tensor);
/// Bytes of a tensor with constant extents; std::nullopt if dynamic or too
/// large.
std::optional<uint64_t> constantBytes(const TensorSpec &tensor);
/// Whether a tensor has the element type and the constant shape of a spec.
bool fits(const HostTensor &tensor, const TensorSpec &spec);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_MANIFEST_H
