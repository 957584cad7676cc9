//===- Manifest.cpp - What an artifact says about itself ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Manifest.h"
#include "luminal/Support/Json.h"
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

using namespace luminal;
using namespace luminal::runtime;
using Kind = BufferSpec::Kind;

namespace {
constexpr std::string_view kKindNames[] = {"input",    "output", "weight",
                                           "constant", "arena",  "alias"};

std::optional<Kind> kindFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kKindNames); ++i)
    if (kKindNames[i] == name)
      return static_cast<Kind>(i);
  return std::nullopt;
}

/// bytes of a tensor with constant extents, or nothing (dynamic, or too large).
std::optional<uint64_t> constantBytes(const TensorSpec &tensor) {
  int64_t bytes = dtypeSize(tensor.dtype);
  bool empty = false;
  for (const Expr &extent : tensor.shape) {
    std::optional<int64_t> value = extent.asConstant();
    if (!value || *value < 0)
      return std::nullopt;
    empty |= *value == 0;
    if (*value != 0 && __builtin_mul_overflow(bytes, *value, &bytes))
      return std::nullopt;
  }
  return empty ? 0 : bytes;
}
} // namespace

std::string_view runtime::bufferKindName(Kind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

std::string runtime::typeText(const TensorSpec &tensor) {
  std::string text(dtypeName(tensor.dtype));
  text += '[';
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    text += (i ? ", " : "") + tensor.shape[i].str();
  return text + ']';
}

bool runtime::fits(const HostTensor &tensor, const TensorSpec &spec) {
  bool same =
      tensor.dtype == spec.dtype && tensor.shape.size() == spec.shape.size();
  for (size_t i = 0; same && i < spec.shape.size(); ++i)
    same = spec.shape[i].isConstant(tensor.shape[i]);
  return same;
}

uint32_t Manifest::rootBuffer(uint32_t index) const {
  // verify() has shown that chains of aliases end.
  while (buffers[index].kind == Kind::Alias)
    index = buffers[index].of;
  return index;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
Result<uint32_t> parseIndex(const JsonRef &ref) {
  LUMINAL_TRY(value, ref.asInt());
  if (value < 0 || value > std::numeric_limits<int32_t>::max())
    return ref.error("is no index: " + std::to_string(value));
  return static_cast<uint32_t>(value);
}

Result<uint32_t> parseIndex(const JsonRef &object, std::string_view key) {
  LUMINAL_TRY(ref, object.at(key));
  return parseIndex(ref);
}

Result<std::optional<uint32_t>> parseOptionalIndex(const JsonRef &object,
                                                   std::string_view key) {
  LUMINAL_TRY(ref, object.find(key));
  if (!ref)
    return std::optional<uint32_t>();
  LUMINAL_TRY(value, parseIndex(*ref));
  return std::optional<uint32_t>(value);
}

Result<std::string> parseString(const JsonRef &object, std::string_view key) {
  LUMINAL_TRY(ref, object.at(key));
  return ref.asString();
}

Result<uint64_t> parseSize(const JsonRef &object, std::string_view key) {
  LUMINAL_TRY(ref, object.at(key));
  LUMINAL_TRY(value, ref.asInt());
  if (value < 0)
    return ref.error("is negative: " + std::to_string(value));
  return static_cast<uint64_t>(value);
}

/// An expression: text, or a plain integer.
Result<Expr> parseExpr(const JsonRef &ref) {
  if (!ref.isString()) {
    LUMINAL_TRY(value, ref.asInt());
    return Expr(value);
  }
  LUMINAL_TRY(text, ref.asString());
  std::string reason;
  std::optional<Expr> expr = Expr::parse(text, &reason);
  if (!expr)
    return ref.error("is no expression: " + reason);
  return *expr;
}

Result<Expr> parseExpr(const JsonRef &object, std::string_view key) {
  LUMINAL_TRY(ref, object.at(key));
  return parseExpr(ref);
}

Result<Expr> parseExprOr(const JsonRef &object, std::string_view key,
                         int64_t otherwise) {
  LUMINAL_TRY(ref, object.find(key));
  if (!ref)
    return Expr(otherwise);
  return parseExpr(*ref);
}

Result<bool> parseBoolOr(const JsonRef &object, std::string_view key,
                         bool otherwise) {
  LUMINAL_TRY(ref, object.find(key));
  if (!ref)
    return otherwise;
  return ref->asBool();
}

Status parseTensor(const JsonRef &object, TensorSpec &tensor) {
  LUMINAL_TRY(name, parseString(object, "name"));
  tensor.name = name;
  LUMINAL_TRY(type, object.at("dtype"));
  LUMINAL_TRY(typeName, type.asString());
  std::optional<DType> dtype = dtypeFromName(typeName);
  if (!dtype)
    return type.error("is no element type: '" + typeName + "'");
  tensor.dtype = *dtype;
  LUMINAL_TRY(shape, object.at("shape"));
  LUMINAL_TRY(extents, shape.asArray());
  for (const JsonRef &extent : extents) {
    LUMINAL_TRY(expr, parseExpr(extent));
    tensor.shape.push_back(expr);
  }
  return {};
}

/// Calls `parse(element, spec)` for each element of the array `key`.
template <typename Spec, typename Fn>
Status parseList(const JsonRef &root, std::string_view key,
                 std::vector<Spec> &specs, Fn parse) {
  LUMINAL_TRY(list, root.at(key));
  LUMINAL_TRY(elements, list.asArray());
  specs.reserve(elements.size());
  for (const JsonRef &element : elements) {
    specs.emplace_back();
    LUMINAL_CHECK(parse(element, specs.back()));
  }
  return {};
}

Status parseSymbol(const JsonRef &ref, SymbolSpec &symbol) {
  LUMINAL_TRY(name, parseString(ref, "name"));
  symbol.name = name;
  LUMINAL_TRY(minRef, ref.at("min"));
  LUMINAL_TRY(min, minRef.asInt());
  symbol.range.lo = min;
  LUMINAL_TRY(maxRef, ref.find("max"));
  if (maxRef) {
    LUMINAL_TRY(max, maxRef->asInt());
    symbol.range.hi = max;
  }
  return {};
}

Status parseInput(const JsonRef &ref, InputSpec &input) {
  LUMINAL_CHECK(parseTensor(ref, input));
  LUMINAL_TRY(buffer, parseIndex(ref, "buffer"));
  LUMINAL_TRY(state, parseBoolOr(ref, "state", false));
  input.buffer = buffer;
  input.state = state;
  LUMINAL_TRY(initial, ref.find("initial"));
  if (initial) {
    LUMINAL_TRY(weight, parseIndex(*initial, "weight"));
    input.initial = weight;
  }
  return {};
}

Status parseOutput(const JsonRef &ref, OutputSpec &output) {
  LUMINAL_CHECK(parseTensor(ref, output));
  LUMINAL_TRY(buffer, parseIndex(ref, "buffer"));
  LUMINAL_TRY(updates, parseOptionalIndex(ref, "updates"));
  output.buffer = buffer;
  output.updates = updates;
  return {};
}

Status parseWeight(const JsonRef &ref, WeightSpec &weight) {
  LUMINAL_CHECK(parseTensor(ref, weight));
  LUMINAL_TRY(buffer, parseOptionalIndex(ref, "buffer"));
  LUMINAL_TRY(offset, parseSize(ref, "offset"));
  LUMINAL_TRY(bytes, parseSize(ref, "bytes"));
  LUMINAL_TRY(member, ref.find("member"));
  if (member) {
    LUMINAL_TRY(name, member->asString());
    weight.member = name;
  }
  weight.buffer = buffer;
  weight.offset = offset;
  weight.bytes = bytes;
  return {};
}

Status parseBuffer(const JsonRef &ref, BufferSpec &buffer) {
  LUMINAL_TRY(kindRef, ref.at("kind"));
  LUMINAL_TRY(kindText, kindRef.asString());
  std::optional<Kind> kind = kindFromName(kindText);
  if (!kind)
    return kindRef.error("is no kind of buffer: '" + kindText + "'");
  buffer.kind = *kind;
  if (*kind == Kind::Alias) {
    LUMINAL_TRY(of, parseIndex(ref, "of"));
    buffer.of = of;
  }
  if (*kind == Kind::Alias || *kind == Kind::Arena || *kind == Kind::Constant) {
    LUMINAL_TRY(offset, parseExpr(ref, "offset"));
    LUMINAL_TRY(bytes, parseExpr(ref, "bytes"));
    buffer.offset = offset;
    buffer.bytes = bytes;
  }
  return {};
}

Status parseStep(const JsonRef &ref, StepSpec &step) {
  LUMINAL_TRY(kernel, parseString(ref, "kernel"));
  LUMINAL_TRY(name, parseString(ref, "name"));
  LUMINAL_TRY(buffersRef, ref.at("buffers"));
  LUMINAL_TRY(buffers, buffersRef.asArray());
  for (const JsonRef &element : buffers) {
    LUMINAL_TRY(index, parseIndex(element));
    step.buffers.push_back(index);
  }
  LUMINAL_TRY(results, parseIndex(ref, "results"));
  LUMINAL_TRY(work, parseExpr(ref, "work"));
  LUMINAL_TRY(grain, parseExpr(ref, "grain"));
  LUMINAL_TRY(scratch, parseExprOr(ref, "scratch", 0));
  LUMINAL_TRY(parallel, parseBoolOr(ref, "parallel", true));
  LUMINAL_TRY(traffic, parseExprOr(ref, "traffic", 0));
  LUMINAL_TRY(flops, parseExprOr(ref, "flops", 0));
  step.kernel = kernel;
  step.name = name;
  step.results = results;
  step.work = work;
  step.grain = grain;
  step.scratch = scratch;
  step.parallel = parallel;
  step.traffic = traffic;
  step.flops = flops;
  return {};
}

Status parseTarget(const JsonRef &ref, TargetSpec &target) {
  LUMINAL_TRY(kind, parseString(ref, "kind"));
  LUMINAL_TRY(arch, parseString(ref, "arch"));
  LUMINAL_TRY(cpu, parseString(ref, "cpu"));
  target.kind = kind;
  target.arch = arch;
  target.cpu = cpu;
  LUMINAL_TRY(featuresRef, ref.at("features"));
  LUMINAL_TRY(features, featuresRef.asArray());
  for (const JsonRef &feature : features) {
    LUMINAL_TRY(name, feature.asString());
    target.features.push_back(name);
  }
  return {};
}
} // namespace

Result<Manifest> Manifest::parse(std::string_view text, std::string name) {
  LUMINAL_TRY(document, JsonDocument::parse(text, name));
  JsonRef root = document.root();
  LUMINAL_TRY(format, parseString(root, "format"));
  if (format != "luminal")
    return root.error("is not the manifest of a Luminal artifact");
  LUMINAL_TRY(versionRef, root.at("version"));
  LUMINAL_TRY(version, versionRef.asInt());
  if (version != kManifestVersion)
    return versionRef.error(
        "this runtime reads version " + std::to_string(kManifestVersion) +
        " of the format, the artifact has version " + std::to_string(version));
  Manifest m;
  LUMINAL_TRY(producer, parseString(root, "producer"));
  m.producer = producer;
  LUMINAL_TRY(target, root.at("target"));
  LUMINAL_CHECK(parseTarget(target, m.target));
  LUMINAL_CHECK(parseList(root, "symbols", m.symbols, parseSymbol));
  LUMINAL_CHECK(parseList(root, "inputs", m.inputs, parseInput));
  LUMINAL_CHECK(parseList(root, "outputs", m.outputs, parseOutput));
  LUMINAL_CHECK(parseList(root, "weights", m.weights, parseWeight));
  LUMINAL_TRY(digest, parseString(root, "weights_digest"));
  m.weightsDigest = digest;
  LUMINAL_TRY(embedded, parseBoolOr(root, "weights_embedded", false));
  m.weightsEmbedded = embedded;
  LUMINAL_CHECK(parseList(root, "buffers", m.buffers, parseBuffer));
  LUMINAL_TRY(arenaBytes, parseExpr(root, "arena_bytes"));
  m.arenaBytes = arenaBytes;
  LUMINAL_CHECK(parseList(root, "steps", m.steps, parseStep));
  if (Status status = m.verify(); !status)
    return status.takeError().within(name);
  return m;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string Manifest::str() const {
  using Json = nlohmann::ordered_json;
  auto tensorJson = [](const TensorSpec &tensor) {
    Json shape = Json::array();
    for (const Expr &extent : tensor.shape)
      shape.push_back(extent.str());
    Json json;
    json["name"] = tensor.name;
    json["dtype"] = std::string(dtypeName(tensor.dtype));
    json["shape"] = std::move(shape);
    return json;
  };
  Json root;
  root["format"] = "luminal";
  root["version"] = kManifestVersion;
  root["producer"] = producer;
  root["target"] = Json{{"kind", target.kind},
                        {"arch", target.arch},
                        {"cpu", target.cpu},
                        {"features", target.features}};
  root["symbols"] = Json::array();
  for (const SymbolSpec &symbol : symbols) {
    Json json{{"name", symbol.name}, {"min", symbol.range.lo}};
    if (symbol.range.hi)
      json["max"] = *symbol.range.hi;
    root["symbols"].push_back(std::move(json));
  }
  root["inputs"] = Json::array();
  for (const InputSpec &input : inputs) {
    Json json = tensorJson(input);
    json["buffer"] = input.buffer;
    json["state"] = input.state;
    if (input.initial)
      json["initial"] = Json{{"weight", *input.initial}};
    root["inputs"].push_back(std::move(json));
  }
  root["outputs"] = Json::array();
  for (const OutputSpec &output : outputs) {
    Json json = tensorJson(output);
    json["buffer"] = output.buffer;
    if (output.updates)
      json["updates"] = *output.updates;
    root["outputs"].push_back(std::move(json));
  }
  root["weights"] = Json::array();
  for (const WeightSpec &weight : weights) {
    Json json = tensorJson(weight);
    if (weight.buffer)
      json["buffer"] = *weight.buffer;
    if (!weight.member.empty())
      json["member"] = weight.member;
    json["offset"] = weight.offset;
    json["bytes"] = weight.bytes;
    root["weights"].push_back(std::move(json));
  }
  root["weights_digest"] = weightsDigest;
  root["weights_embedded"] = weightsEmbedded;
  root["buffers"] = Json::array();
  for (const BufferSpec &buffer : buffers) {
    Json json{{"kind", std::string(bufferKindName(buffer.kind))}};
    if (buffer.kind == Kind::Alias)
      json["of"] = buffer.of;
    if (buffer.kind == Kind::Alias || buffer.kind == Kind::Arena ||
        buffer.kind == Kind::Constant) {
      json["offset"] = buffer.offset.str();
      json["bytes"] = buffer.bytes.str();
    }
    root["buffers"].push_back(std::move(json));
  }
  root["arena_bytes"] = arenaBytes.str();
  root["steps"] = Json::array();
  for (const StepSpec &step : steps) {
    Json json;
    json["kernel"] = step.kernel;
    json["name"] = step.name;
    json["buffers"] = step.buffers;
    json["results"] = step.results;
    json["work"] = step.work.str();
    json["grain"] = step.grain.str();
    json["scratch"] = step.scratch.str();
    json["parallel"] = step.parallel;
    json["traffic"] = step.traffic.str();
    json["flops"] = step.flops.str();
    root["steps"].push_back(std::move(json));
  }
  return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

namespace {
/// One pass over a manifest; each method returns the first thing wrong.
class Verifier {
public:
  explicit Verifier(const Manifest &manifest) : m(manifest) {}

  Status run() {
    LUMINAL_CHECK(symbols());
    LUMINAL_CHECK(buffers());
    LUMINAL_CHECK(weights());
    LUMINAL_CHECK(inputs());
    LUMINAL_CHECK(outputs());
    for (size_t i = 0; i < m.buffers.size(); ++i)
      if ((m.buffers[i].kind == Kind::Input ||
           m.buffers[i].kind == Kind::Weight ||
           m.buffers[i].kind == Kind::Output) &&
          !owned[i])
        return Error(at("buffers", i) + ": no " +
                     std::string(bufferKindName(m.buffers[i].kind)) +
                     " is bound to it");
    return steps();
  }

private:
  static std::string at(const char *list, size_t i) {
    return std::string(list) + "[" + std::to_string(i) + "]";
  }

  /// No dims, no unknown symbols.
  Status expr(const Expr &e, const std::string &where) {
    if (e.isUndefined())
      return Error(where + ": has no value");
    if (e.hasDims())
      return Error(where + ": '" + e.str() + "' has an index");
    std::vector<std::string> used;
    e.collectSymbols(used);
    for (const std::string &name : used)
      if (!std::binary_search(names.begin(), names.end(), name))
        return Error(where + ": '" + name + "' is no symbol of the program");
    return {};
  }

  Status symbols() {
    for (size_t i = 0; i < m.symbols.size(); ++i) {
      const SymbolSpec &symbol = m.symbols[i];
      if (!Expr::isSymbolName(symbol.name))
        return Error(at("symbols", i) + ": '" + symbol.name +
                     "' cannot name a symbol");
      if (!names.empty() && names.back() >= symbol.name)
        return Error(at("symbols", i) + ": '" + symbol.name +
                     "' is out of order or stands twice");
      if (symbol.range.lo < 0 ||
          (symbol.range.hi && *symbol.range.hi < symbol.range.lo))
        return Error(at("symbols", i) + ": the range of '" + symbol.name +
                     "' is negative or empty");
      names.push_back(symbol.name);
    }
    return {};
  }

  Status buffers() {
    owned.assign(m.buffers.size(), false);
    for (size_t i = 0; i < m.buffers.size(); ++i) {
      const BufferSpec &buffer = m.buffers[i];
      LUMINAL_CHECK(expr(buffer.offset, at("buffers", i) + ".offset"));
      LUMINAL_CHECK(expr(buffer.bytes, at("buffers", i) + ".bytes"));
      if (buffer.kind == Kind::Constant &&
          !(buffer.offset.asConstant() && buffer.bytes.asConstant()))
        return Error(at("buffers", i) +
                     ": a constant's place depends on a symbol");
      // Aliases point at earlier buffers, so that every chain ends.
      if (buffer.kind == Kind::Alias && buffer.of >= i)
        return Error(at("buffers", i) +
                     ".of: an alias must be of an earlier buffer, not of " +
                     std::to_string(buffer.of));
    }
    return expr(m.arenaBytes, "arena_bytes");
  }

  Status tensor(const TensorSpec &tensor, const std::string &where) {
    // Names cross the C interface.
    if (tensor.name.find('\0') != std::string::npos)
      return Error(where + ".name: holds a zero byte");
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      LUMINAL_CHECK(
          expr(tensor.shape[i], where + ".shape[" + std::to_string(i) + "]"));
    return {};
  }

  /// Claims a buffer of `kind` for a tensor.
  Status claim(uint32_t index, Kind kind, const std::string &where) {
    if (index >= m.buffers.size())
      return Error(where + ".buffer: there is no buffer " +
                   std::to_string(index));
    if (m.buffers[index].kind != kind)
      return Error(where + ".buffer: buffer " + std::to_string(index) +
                   " is of kind " +
                   std::string(bufferKindName(m.buffers[index].kind)) +
                   ", not " + std::string(bufferKindName(kind)));
    if (owned[index])
      return Error(where + ".buffer: buffer " + std::to_string(index) +
                   " has two owners");
    owned[index] = true;
    return {};
  }

  Status weights() {
    std::set<std::string_view> seen;
    for (size_t i = 0; i < m.weights.size(); ++i) {
      const WeightSpec &weight = m.weights[i];
      std::string where = at("weights", i);
      LUMINAL_CHECK(tensor(weight, where));
      if (!seen.insert(weight.name).second)
        return Error(where + ".name: '" + weight.name + "' stands twice");
      std::optional<uint64_t> bytes = constantBytes(weight);
      if (!bytes)
        return Error(where + ".shape: must be constant");
      if (*bytes != weight.bytes)
        return Error(where + ".bytes: " + typeText(weight) + " has " +
                     std::to_string(*bytes) + " bytes, not " +
                     std::to_string(weight.bytes));
      if (weight.offset > std::numeric_limits<uint64_t>::max() - weight.bytes)
        return Error(where + ".offset: is too large");
      if (weight.buffer)
        LUMINAL_CHECK(claim(*weight.buffer, Kind::Weight, where));
    }
    return {};
  }

  Status inputs() {
    std::set<std::string_view> seen;
    for (size_t i = 0; i < m.inputs.size(); ++i) {
      const InputSpec &input = m.inputs[i];
      std::string where = at("inputs", i);
      LUMINAL_CHECK(tensor(input, where));
      if (!seen.insert(input.name).second)
        return Error(where + ".name: '" + input.name + "' stands twice");
      LUMINAL_CHECK(claim(input.buffer, Kind::Input, where));
      if (!input.initial)
        continue;
      if (!input.state)
        return Error(where + ".initial: only a state has one");
      if (*input.initial >= m.weights.size())
        return Error(where + ".initial: there is no weight " +
                     std::to_string(*input.initial));
      const WeightSpec &weight = m.weights[*input.initial];
      if (weight.dtype != input.dtype || weight.shape != input.shape)
        return Error(where + ".initial: '" + weight.name + "' is " +
                     typeText(weight) + ", the state is " + typeText(input));
    }
    return {};
  }

  Status outputs() {
    std::set<uint32_t> updated;
    for (size_t i = 0; i < m.outputs.size(); ++i) {
      const OutputSpec &output = m.outputs[i];
      std::string where = at("outputs", i);
      LUMINAL_CHECK(tensor(output, where));
      if (output.buffer >= m.buffers.size())
        return Error(where + ".buffer: there is no buffer " +
                     std::to_string(output.buffer));
      // Several outputs may be one value.
      if (m.buffers[output.buffer].kind == Kind::Output) {
        auto [known, isNew] =
            outputTypes.emplace(output.buffer, typeText(output));
        if (!isNew && known->second != typeText(output))
          return Error(where + ".buffer: buffer " +
                       std::to_string(output.buffer) + " is " + known->second +
                       " by another output");
        owned[output.buffer] = true;
      }
      if (!output.updates)
        continue;
      if (*output.updates >= m.inputs.size() ||
          !m.inputs[*output.updates].state)
        return Error(where + ".updates: there is no state " +
                     std::to_string(*output.updates));
      const InputSpec &state = m.inputs[*output.updates];
      if (state.dtype != output.dtype || state.shape != output.shape)
        return Error(where + ".updates: the state '" + state.name + "' is " +
                     typeText(state) + ", its new value " + typeText(output));
      if (!updated.insert(*output.updates).second)
        return Error(where + ".updates: the state '" + state.name +
                     "' is updated twice");
    }
    return {};
  }

  Status steps() {
    // Which buffers a step may write: not weights, constants, plain inputs.
    std::vector<bool> writable(m.buffers.size());
    for (size_t i = 0; i < m.buffers.size(); ++i)
      writable[i] = m.buffers[i].kind == Kind::Alias
                        ? writable[m.buffers[i].of]
                        : m.buffers[i].kind == Kind::Arena ||
                              m.buffers[i].kind == Kind::Output;
    std::vector<bool> states(m.buffers.size());
    for (const InputSpec &input : m.inputs)
      states[input.buffer] = input.state;
    for (size_t i = 0; i < m.steps.size(); ++i) {
      const StepSpec &step = m.steps[i];
      std::string where = at("steps", i);
      if (step.kernel.empty() || step.kernel.find('\0') != std::string::npos)
        return Error(where + ".kernel: is no symbol name");
      for (uint32_t buffer : step.buffers)
        if (buffer >= m.buffers.size())
          return Error(where + ".buffers: there is no buffer " +
                       std::to_string(buffer));
      if (step.results > step.buffers.size())
        return Error(where + ".results: more results than buffers");
      for (size_t k = step.buffers.size() - step.results;
           k < step.buffers.size(); ++k) {
        uint32_t buffer = step.buffers[k];
        if (!writable[buffer] && !states[m.rootBuffer(buffer)])
          return Error(where + ".buffers[" + std::to_string(k) + "]: buffer " +
                       std::to_string(buffer) + " may not be written");
      }
      LUMINAL_CHECK(expr(step.work, where + ".work"));
      LUMINAL_CHECK(expr(step.grain, where + ".grain"));
      LUMINAL_CHECK(expr(step.scratch, where + ".scratch"));
      LUMINAL_CHECK(expr(step.traffic, where + ".traffic"));
      LUMINAL_CHECK(expr(step.flops, where + ".flops"));
    }
    return {};
  }

  const Manifest &m;
  std::vector<std::string> names;
  std::vector<bool> owned;
  std::map<uint32_t, std::string> outputTypes;
};
} // namespace

Status Manifest::verify() const { return Verifier(*this).run(); }
