//===- Manifest.h - The manifest of an artifact ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contents of an artifact's manifest.json (docs/Architecture.md shows an
// example). The compiler fills a Manifest and prints it, the runtime parses it;
// both call `verify`, so the runtime can read everything the compiler writes. A
// verified Manifest is safe to execute as far as data can tell: every index is
// in its table, every expression uses declared symbols only, every kernel
// argument is a buffer that may be read or written in this way. Sizes are
// checked when the symbols get values (Context.h).
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

/// The format version that this library writes, and the only one it reads.
constexpr int64_t kManifestVersion = 3;
/// Alignment in bytes of memory that the runtime allocates, and of the data in
/// constants.bin and weights.bin.
constexpr uint64_t kAlignment = 64;
/// Maximum number of variants of a program. Each variant repeats the fields
/// that it shares with the program.
constexpr size_t kMaxVariants = 64;
/// Minimum alignment in bytes of any buffer passed to a kernel.
constexpr uint64_t kBufferAlignment = 16;

/// The target that the code is compiled for. All launches are of this kind.
struct TargetSpec {
  std::string kind = "cpu";
  /// Architecture: for a CPU as LLVM spells it ("x86_64"), for a GPU as PTX
  /// does ("sm_90a").
  std::string arch;
  /// Name of the CPU model; informational only.
  std::string cpu;
  /// Names of instruction set features, as LLVM spells them, that the code may
  /// use (see CpuFeatures.h).
  std::vector<std::string> features;
  /// GPU only: whether the artifact holds device.cubin, assembled for `arch`.
  /// If not, the driver compiles device.ptx.
  std::optional<bool> cubin;
};

/// A symbol with its range. Symbols are sorted by name, and kernels receive
/// their values in this order.
using SymbolSpec = NamedRange;

/// Name, element type and shape of an input, output or weight.
struct TensorSpec {
  std::string name;
  DType dtype = DType::F32;
  /// Extents as expressions over the symbols; row-major, contiguous.
  std::vector<Expr> shape;
};

/// An input, or a state that calls read and may update.
struct InputSpec : TensorSpec {
  uint32_t buffer = 0;
  bool state = false;
  /// The weight that holds a state's initial value. A state with one lives in
  /// the context; a state without one lives in memory of the caller, which
  /// calls write to.
  std::optional<uint32_t> initial;
};

/// A user output, the new value of a state, or an assertion.
struct OutputSpec : TensorSpec {
  uint32_t buffer = 0;
  /// The state (an input) whose new value this output is; such an output is not
  /// returned to the user.
  std::optional<uint32_t> updates;
  /// If set, the output is an i1 without dims, not returned to the user: if it
  /// is false, the call fails with this message.
  std::optional<std::string> assertion;
  /// Whether the output is returned to the user.
  bool isUsers() const { return !updates && !assertion; }
};

/// `bytes` bytes at `offset` in `member` of the weights archive (a name without
/// the archive's root folder), or in weights.bin. Extents are constants.
struct WeightSpec : TensorSpec {
  /// The buffer that holds the weight; absent if the weight is only the initial
  /// value of a state.
  std::optional<uint32_t> buffer;
  std::string member;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// A range of memory that steps read or write.
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
  /// By kind: `Constant`, in constants.bin at `offset`. `Arena`, in the arena
  /// at `offset`, a multiple of kAlignment. `Alias`, in the buffer `of` at
  /// `offset`. `Prepared`, the output `of` of Manifest::prepare. `Counters`,
  /// `bytes` bytes that are zero between calls. The other kinds use none of
  /// these fields.
  Expr offset, bytes;
  uint32_t of = 0;
};

/// One step of the program: a kernel, a library call or user code.
struct StepSpec {
  /// Symbol of the function in the code; empty for a library or user code.
  std::string kernel;
  /// Name shown in errors and profiles: the kind, then ` at FILE:LINE`.
  /// `Manifest::nameSteps` replaces it by a name that begins with the modules
  /// of the step's nodes.
  std::string name;
  /// Names of the graph nodes that the step computes, operands before users.
  std::vector<std::string> nodes;
  std::string_view getKind() const {
    return std::string_view(name).substr(0, name.find(' '));
  }
  /// Name of the kernel, user function or library, for errors and profiles.
  std::string_view getCodeName() const {
    if (!kernel.empty())
      return kernel;
    const CustomCode *custom = getCustomCode(launch);
    return custom ? std::string_view(custom->entry) : getLibraryName(launch);
  }
  /// Operands, then results, then workspace (used only during the step).
  std::vector<uint32_t> buffers;
  /// Number of results and of workspace buffers (arena or `Counters`), all of
  /// which the step writes.
  uint32_t results = 1, workspace = 0;
  LaunchSpec launch;
  /// Bytes moved and floating-point operations, for the profile; 0 if unknown.
  Expr traffic = 0, flops = 0;

  /// Index in `buffers` of the first buffer that the step writes.
  size_t getFirstResult() const { return buffers.size() - workspace - results; }
  /// Index in `buffers` of the first workspace buffer.
  size_t getFirstWorkspace() const { return buffers.size() - workspace; }
};

/// The signature, memory and steps of a program.
struct Manifest {
  std::string producer;
  TargetSpec target;
  std::vector<SymbolSpec> symbols;
  /// Integer inputs, which each call supplies beside its tensors. A variant
  /// declares none of its own.
  std::vector<IntegerInput> integers;
  /// Conditions on the symbols under which every index is inside its buffer.
  /// Checked whenever symbols get values.
  std::vector<Requirement> requirements;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<WeightSpec> weights;
  /// ZipArchive::getWeightsDigest of the archive that the weights came from;
  /// empty if any file with the right names is accepted.
  std::string weightsDigest;
  bool weightsEmbedded = false;
  /// The file that the weights came from: a path relative to the artifact's
  /// folder that does not leave it; empty if unknown.
  std::string weightsFile;
  std::vector<BufferSpec> buffers;
  Expr arenaBytes = 0;
  std::vector<StepSpec> steps;
  /// The program that runs once when weights are bound; null if none. It has
  /// the same target and the same weights (but for their buffers), no symbols
  /// and no inputs. Its outputs are the `Prepared` buffers of this program.
  std::shared_ptr<const Manifest> prepare;
  /// Versions of the program for narrower ranges of its symbols. A call runs
  /// the first variant whose ranges contain the symbols' values, or else the
  /// program itself. A variant has the same target, inputs, outputs and weights
  /// (but for their buffers), the same symbols (but for their ranges) and the
  /// same `prepare`. It has its own buffers, steps and requirements, and no
  /// variants.
  std::vector<std::shared_ptr<const Manifest>> variants;
  /// Module paths of the nodes of all steps, stored as a separate member of the
  /// artifact.
  ModuleTable modules;

  /// Renames steps after the modules in `table`, as in "layers.3.attn.q_proj
  /// (gemm)". A step whose nodes are not in the table keeps its name.
  void nameSteps(const ModuleTable &table);
  /// Parses and verifies; errors begin with `name` and the JSON path.
  static Result<Manifest> parse(std::string_view text, std::string name);
  /// The JSON text; equal manifests give equal bytes.
  std::string str() const;
  /// Checks everything that does not depend on the values of the symbols.
  Status verify() const;

  /// The conditions of a variant of `program`: "s in [1, 1]" for each symbol
  /// whose range is narrower than in `program`.
  std::string getGuardText(const Manifest &program) const;

  /// Follows aliases to the buffer that holds the memory; `index` itself if it
  /// is not an alias.
  uint32_t rootBuffer(uint32_t index) const;
};

/// The name of a buffer kind in the manifest, and the reverse.
std::string_view bufferKindName(BufferSpec::Kind kind);
std::optional<BufferSpec::Kind> bufferKindFromName(std::string_view name);

/// The tensor's type, as in "f32[s77, 16]".
std::string typeText(const TensorSpec &tensor);
/// Bytes of a tensor with constant extents; std::nullopt if an extent is
/// symbolic or the size overflows.
std::optional<uint64_t> constantBytes(const TensorSpec &tensor);
/// Whether `tensor` has the element type and constant shape of `spec`.
bool fits(const HostTensor &tensor, const TensorSpec &spec);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_MANIFEST_H
