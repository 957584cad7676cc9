//===- ManifestParser.cpp - JSON text to a manifest ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Manifest.h"
#include "luminal/Support/Json.h"
#include <limits>

using namespace luminal;
using namespace luminal::runtime;
using Kind = BufferSpec::Kind;

namespace {
Result<uint32_t> parseIndex(const JsonRef &ref) {
  LUMINAL_TRY(value, ref.asInt());
  if (value < 0 || value > std::numeric_limits<int32_t>::max())
    return ref.error("is not an index: " + std::to_string(value));
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
    return ref.error("is not an expression: " + reason);
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
    return type.error("is not an element type: '" + typeName + "'");
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

Status parseRequirement(const JsonRef &ref, Requirement &requirement) {
  LUMINAL_TRY(what, parseString(ref, "what"));
  LUMINAL_TRY(lesser, parseExpr(ref, "lesser"));
  LUMINAL_TRY(greater, parseExpr(ref, "greater"));
  LUMINAL_TRY(space, ref.at("space"));
  LUMINAL_TRY(extents, space.asArray());
  for (const JsonRef &extent : extents) {
    LUMINAL_TRY(expr, parseExpr(extent));
    requirement.space.push_back(expr);
  }
  requirement.what = what;
  requirement.lesser = lesser;
  requirement.greater = greater;
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
  std::optional<Kind> kind = bufferKindFromName(kindText);
  if (!kind)
    return kindRef.error("is not a kind of buffer: '" + kindText + "'");
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
  LUMINAL_TRY(requirements, root.find("requirements"));
  if (requirements)
    LUMINAL_CHECK(
        parseList(root, "requirements", m.requirements, parseRequirement));
  LUMINAL_CHECK(parseList(root, "inputs", m.inputs, parseInput));
  LUMINAL_CHECK(parseList(root, "outputs", m.outputs, parseOutput));
  LUMINAL_CHECK(parseList(root, "weights", m.weights, parseWeight));
  LUMINAL_TRY(digest, parseString(root, "weights_digest"));
  m.weightsDigest = digest;
  LUMINAL_TRY(embedded, parseBoolOr(root, "weights_embedded", false));
  m.weightsEmbedded = embedded;
  LUMINAL_TRY(weightsFile, root.find("weights_file"));
  if (weightsFile) {
    LUMINAL_TRY(path, weightsFile->asString());
    m.weightsFile = path;
  }
  LUMINAL_CHECK(parseList(root, "buffers", m.buffers, parseBuffer));
  LUMINAL_TRY(arenaBytes, parseExpr(root, "arena_bytes"));
  m.arenaBytes = arenaBytes;
  LUMINAL_CHECK(parseList(root, "steps", m.steps, parseStep));
  if (Status status = m.verify(); !status)
    return status.takeError().within(name);
  return m;
}
