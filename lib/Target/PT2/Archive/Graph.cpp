//===- Graph.cpp - The exported program in JSON ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Graph.h"
#include "SymExpr.h"
#include "luminal/Support/IndexCheck.h"
#include <charconv>

using namespace luminal;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Dtypes
//===----------------------------------------------------------------------===//

namespace {
struct DTypeRow {
  int code;
  const char *name;
  unsigned size;
  std::optional<DType> dtype;
};
constexpr DTypeRow dtypeRows[] = {
    {1, "uint8", 1, DType::U8},
    {2, "int8", 1, DType::I8},
    {3, "int16", 2, DType::I16},
    {4, "int32", 4, DType::I32},
    {5, "int64", 8, DType::I64},
    {6, "float16", 2, DType::F16},
    {7, "float32", 4, DType::F32},
    {8, "float64", 8, DType::F64},
    {9, "complex32", 4, std::nullopt},
    {10, "complex64", 8, std::nullopt},
    {11, "complex128", 16, std::nullopt},
    {12, "bool", 1, DType::I1},
    {13, "bfloat16", 2, DType::BF16},
    {28, "uint16", 2, DType::U16},
    {29, "float8_e4m3fn", 1, DType::F8E4M3},
    {30, "float8_e5m2", 1, DType::F8E5M2},
    {31, "float8_e4m3fnuz", 1, std::nullopt},
    {32, "float8_e5m2fnuz", 1, std::nullopt},
    {33, "float8_e8m0fnu", 1, std::nullopt},
    {34, "uint32", 4, DType::U32},
    {35, "uint64", 8, std::nullopt},
};
const DTypeRow *findRow(int code) {
  for (const DTypeRow &row : dtypeRows)
    if (row.code == code)
      return &row;
  return nullptr;
}
} // namespace

std::optional<DType> DTypeCode::dtype() const {
  const DTypeRow *row = findRow(code);
  return row ? row->dtype : std::nullopt;
}
std::string DTypeCode::name() const {
  const DTypeRow *row = findRow(code);
  return row ? row->name : "dtype code " + std::to_string(code);
}
unsigned DTypeCode::size() const {
  const DTypeRow *row = findRow(code);
  return row ? row->size : 0;
}
DTypeCode DTypeCode::of(DType dtype) {
  for (const DTypeRow &row : dtypeRows)
    if (row.dtype == dtype)
      return {row.code};
  return {};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static Result<std::string> stringAt(const JsonRef &json, std::string_view key) {
  LUMINAL_TRY(field, json.at(key));
  return field.asString();
}

/// A symbolic or plain integer: as_int or as_expr.
static Result<Expr> parseSymInt(const JsonRef &json) {
  LUMINAL_TRY(tagged, json.asUnion());
  if (tagged.first == "as_int") {
    LUMINAL_TRY(value, tagged.second.asInt());
    return Expr(value);
  }
  if (tagged.first == "as_expr") {
    LUMINAL_TRY(field, tagged.second.at("expr_str"));
    LUMINAL_TRY(text, field.asString());
    Result<Expr> expr = parseSymExpr(text);
    if (!expr)
      return field.error(expr.error().message);
    return expr;
  }
  return json.error("expected as_int or as_expr, found '" + tagged.first + "'");
}

static Result<std::vector<Expr>> parseSymInts(const JsonRef &json) {
  LUMINAL_TRY(elements, json.asArray());
  std::vector<Expr> result;
  for (const JsonRef &element : elements) {
    LUMINAL_TRY(value, parseSymInt(element));
    result.push_back(value);
  }
  return result;
}

Result<TensorMeta> pt2::parseTensorMeta(const JsonRef &json) {
  TensorMeta meta;
  LUMINAL_TRY(dtypeField, json.at("dtype"));
  LUMINAL_TRY(code, dtypeField.asInt());
  meta.dtype.code = static_cast<int>(std::clamp<int64_t>(code, -1, 1 << 20));
  if (!meta.dtype.isKnown())
    return dtypeField.error("unknown dtype code " + std::to_string(code));
  LUMINAL_TRY(sizes, json.at("sizes"));
  LUMINAL_TRY(extents, parseSymInts(sizes));
  meta.sizes = extents;
  for (const Expr &extent : extents)
    if (auto c = extent.asConstant(); c && *c < 0)
      return sizes.error("has a negative extent");
  LUMINAL_TRY(stridesField, json.at("strides"));
  LUMINAL_TRY(strides, parseSymInts(stridesField));
  meta.strides = strides;
  if (meta.strides.size() != meta.sizes.size())
    return stridesField.error("has " + std::to_string(strides.size()) +
                              " entries for " + std::to_string(extents.size()) +
                              " dims");
  LUMINAL_TRY(offsetField, json.find("storage_offset"));
  if (offsetField) {
    LUMINAL_TRY(offset, parseSymInt(*offsetField));
    meta.storageOffset = offset;
  }
  LUMINAL_TRY(layoutField, json.find("layout"));
  if (layoutField) {
    LUMINAL_TRY(layout, layoutField->asInt());
    if (layout != 7)
      return layoutField->error("only the strided layout (7) is supported, "
                                "found layout " +
                                std::to_string(layout));
  }
  return meta;
}

/// A symbolic or plain bool, as an expression that is not negative iff the bool
/// is true.
static Result<Expr> parseSymBool(const JsonRef &json) {
  LUMINAL_TRY(tagged, json.asUnion());
  if (tagged.first == "as_bool") {
    LUMINAL_TRY(value, tagged.second.asBool());
    return Expr(value ? 0 : -1);
  }
  if (tagged.first != "as_expr")
    return json.error("expected as_bool or as_expr, found '" + tagged.first +
                      "'");
  LUMINAL_TRY(field, tagged.second.at("expr_str"));
  LUMINAL_TRY(text, field.asString());
  Result<Expr> condition = parseSymCondition(text);
  if (!condition)
    return field.error(condition.error().message);
  return condition;
}

static Result<Graph> parseGraph(const JsonRef &json);

namespace {
/// Parses arguments, given the graph's symbolic values.
class ArgumentParser {
public:
  Status readSymbols(const JsonRef &graph);
  Result<Argument> parse(const JsonRef &json) const;

private:
  using Values = std::map<std::string, Expr>;
  Status readValues(const JsonRef &graph, const char *key, Values &values,
                    Result<Expr> (*parse)(const JsonRef &));
  Result<Expr> named(const JsonRef &name, const Values &values,
                     Argument &arg) const;
  Result<Expr> symInt(const JsonRef &json, Argument &arg) const;
  Status symBool(const JsonRef &json, Argument &arg) const;
  Status symFloat(const JsonRef &json, Argument &arg) const;
  Result<std::string> tensorName(const JsonRef &json) const {
    LUMINAL_TRY(name, json.at("name"));
    return name.asString();
  }

  Values ints, bools;
};
} // namespace

Status ArgumentParser::readValues(const JsonRef &graph, const char *key,
                                  Values &values,
                                  Result<Expr> (*parse)(const JsonRef &)) {
  LUMINAL_TRY(field, graph.find(key));
  if (!field)
    return {};
  LUMINAL_TRY(members, field->asObject());
  for (const auto &[name, json] : members) {
    LUMINAL_TRY(value, parse(json));
    values.emplace(name, value);
  }
  return {};
}

Status ArgumentParser::readSymbols(const JsonRef &graph) {
  LUMINAL_CHECK(readValues(graph, "sym_int_values", ints, parseSymInt));
  return readValues(graph, "sym_bool_values", bools, parseSymBool);
}

Result<Expr> ArgumentParser::named(const JsonRef &json, const Values &values,
                                   Argument &arg) const {
  LUMINAL_TRY(name, json.asString());
  auto it = values.find(name);
  if (it == values.end())
    return json.error("names the unknown symbolic value '" + name + "'");
  arg.symbolics.push_back(name);
  return it->second;
}

Result<Expr> ArgumentParser::symInt(const JsonRef &json, Argument &arg) const {
  LUMINAL_TRY(tagged, json.asUnion());
  if (tagged.first == "as_int") {
    LUMINAL_TRY(value, tagged.second.asInt());
    return Expr(value);
  }
  if (tagged.first != "as_name")
    return json.error("expected as_int or as_name, found '" + tagged.first +
                      "'");
  return named(tagged.second, ints, arg);
}

Status ArgumentParser::symBool(const JsonRef &json, Argument &arg) const {
  LUMINAL_TRY(tagged, json.asUnion());
  if (tagged.first == "as_bool") {
    LUMINAL_TRY(value, tagged.second.asBool());
    arg.kind = Argument::Bool;
    arg.exprs.push_back(Expr(value ? 1 : 0));
    return {};
  }
  if (tagged.first != "as_name")
    return json.error("expected as_bool or as_name, found '" + tagged.first +
                      "'");
  LUMINAL_TRY(condition, named(tagged.second, bools, arg));
  arg.kind = Argument::Condition;
  arg.exprs.push_back(condition);
  return {};
}

/// No op takes a symbolic float, but assertions may name one.
Status ArgumentParser::symFloat(const JsonRef &json, Argument &arg) const {
  LUMINAL_TRY(tagged, json.asUnion());
  if (tagged.first == "as_float") {
    LUMINAL_TRY(value, tagged.second.asDouble());
    arg.kind = Argument::Float;
    arg.doubles.push_back(value);
    return {};
  }
  if (tagged.first != "as_name")
    return json.error("expected as_float or as_name, found '" + tagged.first +
                      "'");
  LUMINAL_TRY(name, tagged.second.asString());
  arg.kind = Argument::Unsupported;
  arg.names.push_back("as_sym_float");
  arg.symbolics.push_back(name);
  return {};
}

Result<Argument> ArgumentParser::parse(const JsonRef &json) const {
  LUMINAL_TRY(tagged, json.asUnion());
  const auto &[tag, value] = tagged;
  Argument arg;
  auto list = [&](Argument::Kind kind, auto &&element) -> Result<Argument> {
    LUMINAL_TRY(elements, value.asArray());
    arg.kind = kind;
    for (const JsonRef &e : elements)
      LUMINAL_CHECK(element(e));
    return std::move(arg);
  };
  auto addInt = [&](const JsonRef &e) -> Status {
    LUMINAL_TRY(v, e.asInt());
    arg.exprs.push_back(Expr(v));
    return {};
  };
  auto addSymInt = [&](const JsonRef &e) -> Status {
    LUMINAL_TRY(v, symInt(e, arg));
    arg.exprs.push_back(v);
    return {};
  };
  auto addDouble = [&](const JsonRef &e) -> Status {
    LUMINAL_TRY(v, e.asDouble());
    arg.doubles.push_back(v);
    return {};
  };
  auto addBool = [&](const JsonRef &e) -> Status {
    LUMINAL_TRY(v, e.asBool());
    arg.exprs.push_back(Expr(v ? 1 : 0));
    return {};
  };
  auto addTensor = [&](const JsonRef &e) -> Status {
    LUMINAL_TRY(name, tensorName(e));
    arg.names.push_back(name);
    return {};
  };
  auto addOptionalTensor = [&](const JsonRef &e) -> Status {
    LUMINAL_TRY(inner, e.asUnion());
    if (inner.first == "as_none") {
      arg.names.emplace_back();
      return {};
    }
    if (inner.first != "as_tensor")
      return e.error("expected as_tensor or as_none, found '" + inner.first +
                     "'");
    return addTensor(inner.second);
  };
  auto one = [&](Argument::Kind kind, auto &&element) -> Result<Argument> {
    arg.kind = kind;
    LUMINAL_CHECK(element(value));
    return std::move(arg);
  };

  if (tag == "as_none")
    return arg;
  if (tag == "as_tensor")
    return one(Argument::Tensor, addTensor);
  if (tag == "as_tensors")
    return list(Argument::Tensors, addTensor);
  if (tag == "as_optional_tensors")
    return list(Argument::OptionalTensors, addOptionalTensor);
  if (tag == "as_optional_tensor") {
    LUMINAL_CHECK(addOptionalTensor(value));
    arg.kind = arg.names[0].empty() ? Argument::None : Argument::Tensor;
    return arg;
  }
  if (tag == "as_int")
    return one(Argument::Int, addInt);
  if (tag == "as_ints")
    return list(Argument::Ints, addInt);
  if (tag == "as_sym_int")
    return one(Argument::Int, addSymInt);
  if (tag == "as_sym_ints")
    return list(Argument::Ints, addSymInt);
  if (tag == "as_float")
    return one(Argument::Float, addDouble);
  if (tag == "as_floats")
    return list(Argument::Floats, addDouble);
  if (tag == "as_complex") {
    LUMINAL_TRY(re, value.at("real"));
    LUMINAL_TRY(im, value.at("imag"));
    LUMINAL_CHECK(addDouble(re));
    LUMINAL_CHECK(addDouble(im));
    arg.kind = Argument::Complex;
    return arg;
  }
  if (tag == "as_bool")
    return one(Argument::Bool, addBool);
  if (tag == "as_bools")
    return list(Argument::Bools, addBool);
  if (tag == "as_scalar_type")
    return one(Argument::ScalarType, addInt);
  if (tag == "as_layout")
    return one(Argument::Layout, addInt);
  if (tag == "as_memory_format")
    return one(Argument::MemoryFormat, addInt);
  if (tag == "as_sym_bool") {
    LUMINAL_CHECK(symBool(value, arg));
    return arg;
  }
  if (tag == "as_sym_float") {
    LUMINAL_CHECK(symFloat(value, arg));
    return arg;
  }
  if (tag == "as_graph") {
    LUMINAL_TRY(name, stringAt(value, "name"));
    LUMINAL_TRY(field, value.at("graph"));
    LUMINAL_TRY(graph, parseGraph(field));
    arg.kind = Argument::Subgraph;
    arg.names.push_back(name);
    arg.graph = std::make_shared<const Graph>(std::move(graph));
    return arg;
  }
  if (tag == "as_string") {
    LUMINAL_TRY(text, value.asString());
    arg.kind = Argument::String;
    arg.names.push_back(text);
    return arg;
  }
  if (tag == "as_device") {
    LUMINAL_TRY(type, value.at("type"));
    LUMINAL_TRY(text, type.asString());
    arg.kind = Argument::Device;
    arg.names.push_back(text);
    return arg;
  }
  // Kinds of the schema that no supported op takes. A node with such an
  // argument is reported as unsupported, with this tag in the message.
  static constexpr std::string_view others[] = {
      "as_sym_bools", "as_sym_floats",     "as_custom_obj",
      "as_operator",  "as_nested_tensors", "as_strings",
      "as_int_lists", "as_float_lists",    "as_string_to_argument"};
  for (std::string_view other : others)
    if (tag == other) {
      arg.kind = Argument::Unsupported;
      arg.names.push_back(tag);
      return arg;
    }
  return json.error("unknown kind of argument '" + tag + "'");
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Reads the innermost frame outside of torch's own files.
static void readStackTrace(std::string_view trace, Node &node) {
  constexpr std::string_view start = "File \"", middle = "\", line ";
  for (size_t at = trace.find(start); at != std::string_view::npos;
       at = trace.find(start, at + 1)) {
    size_t begin = at + start.size(), end = trace.find(middle, begin);
    if (end == std::string_view::npos)
      return;
    std::string_view file = trace.substr(begin, end - begin);
    unsigned line = 0;
    const char *digits = trace.data() + end + middle.size();
    if (std::from_chars(digits, trace.data() + trace.size(), line).ec !=
        std::errc())
      continue;
    bool inTorch = file.find("/torch/") != std::string_view::npos;
    if (node.line && inTorch)
      continue;
    node.file = file;
    node.line = line;
  }
}

/// The path of a module as the user would write it. A strict export states an
/// expression, `L['self'].layers[0]` or `L['self']._modules['layers']`, and
/// appends a number to repeated calls of a module: `layers.0@1`.
static std::string getModulePath(std::string_view text) {
  text = text.substr(0, text.find('@'));
  if (text.starts_with("L['"))
    text = text.substr(std::min(text.size(), text.find(']') + 1));
  std::string path;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find_first_of(".[]'", begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    if (!part.empty() && part != "_modules")
      path += (path.empty() ? "" : ".") + std::string(part);
    begin = end + 1;
  }
  return path;
}

/// Reads the innermost entry of `KEY,PATH,CLASS;KEY,PATH,CLASS`.
static void readModuleStack(std::string_view stack, Node &node) {
  std::string_view entry = stack.substr(stack.rfind(';') + 1);
  size_t begin = entry.find(',') + 1, end = entry.rfind(',');
  if (begin == 0 || end < begin)
    return;
  node.module = getModulePath(entry.substr(begin, end - begin));
  if (node.module.empty()) {
    std::string_view name = entry.substr(end + 1);
    node.module = name.substr(name.rfind('.') + 1);
  }
}

/// Parses one node of a graph.
static Result<Node> parseNode(const JsonRef &json,
                              const ArgumentParser &arguments) {
  Node node;
  node.path = json.getPath();
  LUMINAL_TRY(targetField, json.at("target"));
  LUMINAL_TRY(target, targetField.asString());
  node.target = target;
  LUMINAL_TRY(inputsField, json.at("inputs"));
  LUMINAL_TRY(inputs, inputsField.asArray());
  for (const JsonRef &input : inputs) {
    LUMINAL_TRY(nameField, input.at("name"));
    LUMINAL_TRY(name, nameField.asString());
    LUMINAL_TRY(argField, input.at("arg"));
    LUMINAL_TRY(arg, arguments.parse(argField));
    node.inputs.push_back({name, std::move(arg)});
  }
  LUMINAL_TRY(outputsField, json.at("outputs"));
  LUMINAL_TRY(outputs, outputsField.asArray());
  for (const JsonRef &output : outputs) {
    LUMINAL_TRY(arg, arguments.parse(output));
    node.outputs.push_back(std::move(arg));
  }
  LUMINAL_TRY(metadata, json.find("metadata"));
  if (metadata) {
    LUMINAL_TRY(trace, metadata->find("stack_trace"));
    if (trace) {
      LUMINAL_TRY(text, trace->asString());
      readStackTrace(text, node);
    }
    LUMINAL_TRY(stack, metadata->find("nn_module_stack"));
    if (stack) {
      LUMINAL_TRY(text, stack->asString());
      readModuleStack(text, node);
    }
  }
  LUMINAL_TRY(nameField, json.find("name"));
  if (nameField) {
    LUMINAL_TRY(name, nameField->asString());
    node.name = name;
  } else if (!node.outputs.empty() && !node.outputs[0].names.empty()) {
    node.name = node.outputs[0].names[0];
  }
  return node;
}

/// The parts of every graph: nodes, types of its tensors, symbolic values.
static Status parseBody(const JsonRef &json, ArgumentParser &arguments,
                        std::vector<Node> &nodes,
                        std::map<std::string, TensorMeta> &tensors) {
  LUMINAL_TRY(tensorsField, json.at("tensor_values"));
  LUMINAL_TRY(metas, tensorsField.asObject());
  for (const auto &[name, value] : metas) {
    LUMINAL_TRY(meta, parseTensorMeta(value));
    tensors.emplace(name, std::move(meta));
  }
  LUMINAL_CHECK(arguments.readSymbols(json));
  LUMINAL_TRY(nodesField, json.at("nodes"));
  LUMINAL_TRY(elements, nodesField.asArray());
  for (const JsonRef &element : elements) {
    LUMINAL_TRY(node, parseNode(element, arguments));
    nodes.push_back(std::move(node));
  }
  return {};
}

/// A graph inside an argument. The depth limit of the JSON text bounds the
/// recursion.
static Result<Graph> parseGraph(const JsonRef &json) {
  Graph graph;
  ArgumentParser arguments;
  LUMINAL_CHECK(parseBody(json, arguments, graph.nodes, graph.tensors));
  auto list = [&](const char *key, std::vector<Argument> &into) -> Status {
    LUMINAL_TRY(field, json.at(key));
    LUMINAL_TRY(elements, field.asArray());
    for (const JsonRef &element : elements) {
      LUMINAL_TRY(arg, arguments.parse(element));
      into.push_back(std::move(arg));
    }
    return {};
  };
  LUMINAL_CHECK(list("inputs", graph.inputs));
  LUMINAL_CHECK(list("outputs", graph.outputs));
  return graph;
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

/// Parses an entry of the signature's inputs.
static Result<InputSpec> parseInput(const JsonRef &json,
                                    const ArgumentParser &arguments) {
  LUMINAL_TRY(tagged, json.asUnion());
  const auto &[tag, value] = tagged;
  InputSpec spec;
  auto named = [&](InputSpec::Kind kind,
                   std::string_view key) -> Result<InputSpec> {
    spec.kind = kind;
    LUMINAL_TRY(arg, value.at("arg"));
    LUMINAL_TRY(name, stringAt(arg, "name"));
    LUMINAL_TRY(fqn, stringAt(value, key));
    spec.name = name;
    spec.fqn = fqn;
    return std::move(spec);
  };
  if (tag == "parameter")
    return named(InputSpec::Parameter, "parameter_name");
  if (tag == "tensor_constant")
    return named(InputSpec::Constant, "tensor_constant_name");
  if (tag == "buffer") {
    LUMINAL_TRY(persistent, value.find("persistent"));
    if (persistent) {
      LUMINAL_TRY(flag, persistent->asBool());
      spec.persistent = flag;
    }
    return named(InputSpec::Buffer, "buffer_name");
  }
  if (tag == "user_input") {
    LUMINAL_TRY(arg, value.at("arg"));
    LUMINAL_TRY(parsed, arguments.parse(arg));
    spec.literal = parsed;
    switch (parsed.kind) {
    case Argument::Tensor:
      spec.kind = InputSpec::User;
      spec.name = parsed.names[0];
      return spec;
    case Argument::Int:
      spec.kind = InputSpec::Literal;
      if (!parsed.exprs[0].asConstant()) {
        spec.kind = InputSpec::Integer;
        spec.name = parsed.symbolics[0];
      }
      return spec;
    case Argument::None:
    case Argument::Float:
    case Argument::Bool:
    case Argument::String:
      spec.kind = InputSpec::Literal;
      return spec;
    default:
      return arg.error("user inputs are tensors or plain values");
    }
  }
  if (tag == "constant_input") {
    spec.kind = InputSpec::Literal;
    LUMINAL_TRY(name, stringAt(value, "name"));
    spec.name = name;
    LUMINAL_TRY(constant, value.at("value"));
    LUMINAL_TRY(parsed, arguments.parse(constant));
    spec.literal = parsed;
    return spec;
  }
  return json.error("an input of kind '" + tag + "' is not supported");
}

/// Parses an entry of the signature's outputs.
static Result<OutputSpec> parseOutput(const JsonRef &json,
                                      const ArgumentParser &arguments) {
  LUMINAL_TRY(tagged, json.asUnion());
  const auto &[tag, value] = tagged;
  OutputSpec spec;
  LUMINAL_TRY(arg, value.at("arg"));
  if (tag == "user_output") {
    spec.kind = OutputSpec::User;
    LUMINAL_TRY(parsed, arguments.parse(arg));
    spec.value = parsed;
    return spec;
  }
  if (tag == "buffer_mutation" || tag == "user_input_mutation") {
    bool buffer = tag == "buffer_mutation";
    spec.kind = buffer ? OutputSpec::BufferMutation : OutputSpec::InputMutation;
    LUMINAL_TRY(name, stringAt(arg, "name"));
    LUMINAL_TRY(target,
                stringAt(value, buffer ? "buffer_name" : "user_input_name"));
    spec.value.kind = Argument::Tensor;
    spec.value.names.push_back(name);
    spec.target = target;
    return spec;
  }
  return json.error("an output of kind '" + tag + "' is not supported");
}

/// The range of `symbol` for which `expr` = a * symbol + b is in `range`;
/// std::nullopt if `expr` has another form.
static std::optional<SymbolRange>
solve(const Expr &expr, const std::string &symbol, const SymbolRange &range) {
  if (expr.asSymbol())
    return range;
  auto at = [&](int64_t value) {
    return expr.evaluate([&](std::string_view) { return value; });
  };
  auto b = at(0), one = at(1);
  if (!b || !one || *one <= *b ||
      expr != Expr(*one - *b) * Expr::symbol(symbol) + Expr(*b))
    return std::nullopt;
  Expr a(*one - *b);
  // A bound that overflows 64 bits is ignored.
  SymbolRange solved;
  solved.lo = Expr::ceilDiv(Expr(range.lo) - Expr(*b), a)
                  .asConstant()
                  .value_or(INT64_MIN);
  if (range.hi)
    solved.hi = Expr::floorDiv(Expr(*range.hi) - Expr(*b), a).asConstant();
  return solved;
}

/// Keys are symbols, or expressions of one symbol ("2*s40"), which narrow its
/// range. Other expressions are consequences that torch derived; they are
/// ignored.
static Status parseRanges(const JsonRef &root, ExportedProgram &program) {
  LUMINAL_TRY(field, root.find("range_constraints"));
  if (!field)
    return {};
  LUMINAL_TRY(members, field->asObject());
  for (const auto &[key, json] : members) {
    SymbolRange range{INT64_MIN, std::nullopt};
    LUMINAL_TRY(min, json.find("min_val"));
    if (min) {
      LUMINAL_TRY(value, min->asInt());
      range.lo = value;
    }
    LUMINAL_TRY(max, json.find("max_val"));
    if (max) {
      LUMINAL_TRY(value, max->asInt());
      range.hi = value;
    }
    std::optional<Expr> expr = Expr::parse(key);
    std::vector<std::string> symbols;
    if (expr)
      expr->collectSymbols(symbols);
    if (symbols.size() != 1)
      continue;
    std::optional<SymbolRange> solved = solve(*expr, symbols[0], range);
    if (!solved)
      continue;
    auto [it, inserted] = program.ranges.emplace(symbols[0], *solved);
    if (!inserted) {
      it->second.lo = std::max(it->second.lo, solved->lo);
      if (solved->hi && (!it->second.hi || *solved->hi < *it->second.hi))
        it->second.hi = solved->hi;
    }
    if (it->second.hi && *it->second.hi < it->second.lo)
      return json.error("the range is empty");
  }
  return {};
}

std::map<std::string, std::string> ExportedProgram::getInputsByFqn() const {
  std::map<std::string, std::string> result;
  for (const InputSpec &spec : inputs)
    if (!spec.fqn.empty())
      result[spec.fqn] = spec.name;
  return result;
}

Result<ExportedProgram> ExportedProgram::parse(const JsonRef &root) {
  ExportedProgram program;
  LUMINAL_TRY(version, root.find("schema_version"));
  if (version) {
    LUMINAL_TRY(majorField, version->at("major"));
    LUMINAL_TRY(major, majorField.asInt());
    if (major != 8)
      return majorField.error("schema version " + std::to_string(major) +
                              " is not supported; 8 is");
  }
  LUMINAL_TRY(module, root.at("graph_module"));
  LUMINAL_TRY(graph, module.at("graph"));
  LUMINAL_TRY(signature, module.at("signature"));
  LUMINAL_CHECK(parseRanges(root, program));
  // Older archives have no guards.
  LUMINAL_TRY(guardsField, root.find("guards_code"));
  if (guardsField) {
    LUMINAL_TRY(guards, guardsField->asArray());
    for (const JsonRef &json : guards) {
      LUMINAL_TRY(text, json.asString());
      program.guards.emplace_back(text);
    }
  }

  ArgumentParser arguments;
  LUMINAL_CHECK(parseBody(graph, arguments, program.nodes, program.tensors));
  LUMINAL_TRY(inputsField, signature.at("input_specs"));
  LUMINAL_TRY(inputs, inputsField.asArray());
  for (const JsonRef &json : inputs) {
    LUMINAL_TRY(spec, parseInput(json, arguments));
    program.inputs.push_back(std::move(spec));
  }
  LUMINAL_TRY(outputsField, signature.at("output_specs"));
  LUMINAL_TRY(outputs, outputsField.asArray());
  for (const JsonRef &json : outputs) {
    LUMINAL_TRY(spec, parseOutput(json, arguments));
    program.outputs.push_back(std::move(spec));
  }
  LUMINAL_CHECK(inlineWrappers(program));
  expandFourier(program);
  lowerComplex(program);
  return program;
}
