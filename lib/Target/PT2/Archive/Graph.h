//===- Graph.h - The exported program, as its JSON states it --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ARCHIVE_GRAPH_H
#define LUMINAL_LIB_TARGET_PT2_ARCHIVE_GRAPH_H

#include "luminal/Support/DType.h"
#include "luminal/Support/Expr.h"
#include "luminal/Support/Json.h"
#include <map>
#include <memory>

namespace luminal::pt2 {

struct Graph;

/// A dtype code of the archive (torch's ScalarType as torch.export numbers it).
struct DTypeCode {
  int code = 0;
  bool operator==(const DTypeCode &) const = default;
  /// Nothing for dtypes that HLIR does not have.
  std::optional<DType> dtype() const;
  /// "float32", "complex64", ...; the number for an unknown code.
  std::string name() const;
  static DTypeCode of(DType dtype);
  /// Of complex numbers the type of their parts; other types as they are.
  DTypeCode getReal() const;
  /// The reverse; other types than those of parts as they are.
  DTypeCode getComplex() const;
  bool isComplex() const { return !(getReal() == *this); }
  /// Bytes of an element; 0 for an unknown code.
  unsigned size() const;
  bool isKnown() const { return size() != 0; }
};

struct TensorMeta {
  DTypeCode dtype;
  std::vector<Expr> sizes, strides;
  Expr storageOffset;
};
Result<TensorMeta> parseTensorMeta(const JsonRef &json);

/// An argument of a node: the archive's tagged union with names of symbolic
/// values replaced by their expressions.
struct Argument {
  enum Kind {
    None,
    Tensor,          ///< names[0]
    Tensors,         ///< names
    OptionalTensors, ///< names; empty for None
    Int,             ///< exprs[0], maybe symbolic
    Ints,            ///< exprs
    Float,           ///< doubles[0]
    Floats,
    Bool, ///< exprs[0], 0 or 1
    Bools,
    Condition,    ///< a symbolic bool: true where exprs[0] >= 0
    String,       ///< names[0]
    ScalarType,   ///< exprs[0]
    Layout,       ///< exprs[0]
    MemoryFormat, ///< exprs[0]
    Device,       ///< names[0]
    Subgraph,     ///< graph; names[0] is its name
    Unsupported,  ///< names[0] is the archive's tag
  } kind = None;
  std::vector<std::string> names;
  std::vector<Expr> exprs;
  std::vector<double> doubles;
  /// The names of the symbolic values that it reads or, as a result, defines;
  /// their values are in `exprs`.
  std::vector<std::string> symbolics;
  std::shared_ptr<const Graph> graph;

  /// Whether `names` are names of tensors.
  bool namesTensors() const {
    return kind == Tensor || kind == Tensors || kind == OptionalTensors;
  }
};

struct NamedArgument {
  std::string name;
  Argument value;
};

struct Node {
  std::string target;
  std::string name;
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  /// Innermost user frame of the stack trace; line 0 if there is none.
  std::string file;
  unsigned line = 0;
  /// The path of its module as the user wrote it; of a node of the model itself
  /// the model's class; empty where the archive does not tell.
  std::string module;
  /// The node's position in the JSON text, for messages.
  std::string path;
  /// Under torch.autocast: operands take the float type that the archive states
  /// for the result.
  bool autocast = false;
  /// Why it cannot be built; empty: it may be.
  std::string refused;

  /// The target as messages and tables name it, such as "aten.add.Tensor".
  std::string getOp() const {
    static constexpr std::string_view prefix = "torch.ops.";
    return target.starts_with(prefix) ? target.substr(prefix.size()) : target;
  }
};

/// A graph inside an argument of a node.
struct Graph {
  std::vector<Argument> inputs, outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta> tensors;
};

struct InputSpec {
  /// An Integer is one that each call gives, a Literal the same in all.
  enum Kind { Parameter, Buffer, Constant, User, Integer, Literal } kind;
  std::string name;       ///< of the graph's value, or of a literal
  std::string fqn;        ///< of a parameter, buffer or constant
  bool persistent = true; ///< of a buffer
  /// Of an Integer the expression that it is equal to.
  Argument literal;
};

struct OutputSpec {
  enum Kind { User, BufferMutation, InputMutation } kind;
  Argument value;
  std::string target; ///< buffer's FQN or input's name
};

struct ExportedProgram {
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta> tensors;
  /// As the archive states them: of an extent, also negative values.
  std::map<std::string, SymbolRange> ranges;
  /// Conditions on the inputs under which the trace is that of the model, as
  /// Python text.
  std::vector<std::string> guards;

  /// The name of each parameter, buffer and constant by its FQN.
  std::map<std::string, std::string> getInputsByFqn() const;

  /// The program of model.json, wrapper nodes inlined.
  static Result<ExportedProgram> parse(const JsonRef &root);
};

/// Replaces nodes that only set a mode around a graph (gradients, autocast) by
/// the nodes of that graph.
Status inlineWrappers(ExportedProgram &program);

/// Writes torch.fft's functions, stft and istft in the transforms that
/// PyTorch's own decompositions end in: _fft_r2c, _fft_c2c and _fft_c2r.
void expandFourier(ExportedProgram &program);

/// Makes two real tensors of each complex one, and of each stored one its
/// view_as_real. Nodes that have no form on these are marked as refused.
void lowerComplex(ExportedProgram &program);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_GRAPH_H
