//===- Graph.h - The exported program in JSON -----------------------------===//
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
  /// The HLIR type; std::nullopt for dtypes that HLIR does not have.
  std::optional<DType> dtype() const;
  /// "float32", "complex64", ...; the number for an unknown code.
  std::string name() const;
  static DTypeCode of(DType dtype);
  /// The type of the parts of a complex type; other types unchanged.
  DTypeCode getReal() const;
  /// The complex type with parts of this type; other types unchanged.
  DTypeCode getComplex() const;
  bool isComplex() const { return !(getReal() == *this); }
  /// Bytes of an element; 0 for an unknown code.
  unsigned size() const;
  bool isKnown() const { return size() != 0; }
};

/// What the archive states about a tensor of the graph.
struct TensorMeta {
  DTypeCode dtype;
  std::vector<Expr> sizes, strides;
  Expr storageOffset;
};
Result<TensorMeta> parseTensorMeta(const JsonRef &json);

/// An argument of a node: the archive's tagged union, with the names of
/// symbolic values replaced by their expressions.
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
    Complex, ///< doubles[0] + i doubles[1]
    Bool,    ///< exprs[0], 0 or 1
    Bools,
    Condition,    ///< a symbolic bool: true iff exprs[0] >= 0
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
  /// Names of the symbolic values that an operand reads or a result defines;
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

/// A call of an op in the graph.
struct Node {
  std::string target;
  std::string name;
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  /// Innermost user frame of the stack trace; line 0 if there is none.
  std::string file;
  unsigned line = 0;
  /// Path of the node's module as the user wrote it; for a node of the root
  /// module, the model's class; empty if the archive does not state it.
  std::string module;
  /// Position of the node in the JSON text, for messages.
  std::string path;
  /// Whether the node is inside torch.autocast: operands are converted to the
  /// float type that the archive states for the result.
  bool autocast = false;
  /// Why the node is not supported; empty if it may be.
  std::string refused;

  /// The op's name in messages and tables, such as "aten.add.Tensor".
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

/// An input of the graph, by the archive's signature.
struct InputSpec {
  /// An Integer is passed at each call; a Literal is the same in all calls.
  enum Kind { Parameter, Buffer, Constant, User, Integer, Literal } kind;
  std::string name;       ///< of the graph's value, or of a literal
  std::string fqn;        ///< of a parameter, buffer or constant
  bool persistent = true; ///< of a buffer
  /// For an Integer, the expression that it is equal to.
  Argument literal;
};

/// An output of the graph, by the archive's signature.
struct OutputSpec {
  enum Kind { User, BufferMutation, InputMutation } kind;
  Argument value;
  std::string target; ///< buffer's FQN or input's name
};

/// The program in an archive.
struct ExportedProgram {
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta> tensors;
  /// As the archive states them; for an extent, the range may include negative
  /// values.
  std::map<std::string, SymbolRange> ranges;
  /// Conditions on the inputs under which the trace is valid for the model, as
  /// Python text.
  std::vector<std::string> guards;

  /// The name of each parameter, buffer and constant by its FQN.
  std::map<std::string, std::string> getInputsByFqn() const;

  /// Parses the program in model.json, with wrapper nodes inlined.
  static Result<ExportedProgram> parse(const JsonRef &root);
};

/// Replaces nodes that only set a mode around a graph (gradients, autocast) by
/// the nodes of that graph.
Status inlineWrappers(ExportedProgram &program);

/// Expands the functions of torch.fft, stft and istft to the transforms that
/// PyTorch's own decompositions use: _fft_r2c, _fft_c2c and _fft_c2r.
void expandFourier(ExportedProgram &program);

/// Replaces each complex tensor by two real ones, and each stored one by its
/// view_as_real. Marks nodes for which that is not possible as refused.
void lowerComplex(ExportedProgram &program);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_GRAPH_H
