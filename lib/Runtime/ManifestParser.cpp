//===- ManifestParser.cpp - Parses a manifest from JSON -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Manifest.h"
#include "luminal/Support/Json.h"
#include <algorithm>
#include <limits>

using namespace luminal;
using namespace luminal::runtime;
using Kind = BufferSpec::Kind;

namespace {
/// Overloads of `read(json, value)` for every type in a manifest; those of
/// lists and records read their elements with the others. In a class, so that
/// every overload sees all others.
struct Reader {
  /// Reads a required member.
  template <typename T>
  static Status readMember(const JsonRef &object, std::string_view key,
                           T &value) {
    LUMINAL_TRY(ref, object.at(key));
    return read(ref, value);
  }

  /// Reads an optional member; `value` is unchanged if it is absent.
  template <typename T>
  static Status readOptional(const JsonRef &object, std::string_view key,
                             T &value) {
    LUMINAL_TRY(ref, object.find(key));
    return ref ? read(*ref, value) : Status();
  }

  template <typename T>
  static Status read(const JsonRef &ref, std::optional<T> &value) {
    return read(ref, value.emplace());
  }

  template <typename T>
  static Status read(const JsonRef &ref, std::vector<T> &values) {
    LUMINAL_TRY(elements, ref.asArray());
    values.reserve(elements.size());
    for (const JsonRef &element : elements)
      LUMINAL_CHECK(read(element, values.emplace_back()));
    return {};
  }

  static Status read(const JsonRef &ref, std::string &value) {
    LUMINAL_TRY(text, ref.asString());
    value = std::move(text);
    return {};
  }

  static Status read(const JsonRef &ref, bool &value) {
    LUMINAL_TRY(flag, ref.asBool());
    value = flag;
    return {};
  }

  static Status read(const JsonRef &ref, int64_t &value) {
    LUMINAL_TRY(integer, ref.asInt());
    value = integer;
    return {};
  }

  /// Reads an index, or a number of things that are numbered.
  static Status read(const JsonRef &ref, uint32_t &value) {
    LUMINAL_TRY(index, ref.asInt());
    if (index < 0 || index > std::numeric_limits<int32_t>::max())
      return ref.error("is not an index: " + std::to_string(index));
    value = static_cast<uint32_t>(index);
    return {};
  }

  /// Reads a number of bytes.
  static Status read(const JsonRef &ref, uint64_t &value) {
    LUMINAL_TRY(size, ref.asInt());
    if (size < 0)
      return ref.error("is negative: " + std::to_string(size));
    value = static_cast<uint64_t>(size);
    return {};
  }

  /// Reads an expression, given as text or as an integer.
  static Status read(const JsonRef &ref, Expr &value) {
    if (!ref.isString()) {
      LUMINAL_TRY(integer, ref.asInt());
      value = Expr(integer);
      return {};
    }
    LUMINAL_TRY(text, ref.asString());
    std::string reason;
    std::optional<Expr> expr = Expr::parse(text, &reason);
    if (!expr)
      return ref.error("is not an expression: " + reason);
    value = *expr;
    return {};
  }

  static Status read(const JsonRef &ref, double &value) {
    LUMINAL_TRY(number, ref.asDouble());
    value = number;
    return {};
  }

  static Status read(const JsonRef &ref, DType &value) {
    LUMINAL_TRY(name, ref.asString());
    std::optional<DType> dtype = dtypeFromName(name);
    if (!dtype)
      return ref.error("is not an element type: '" + name + "'");
    value = *dtype;
    return {};
  }

  static Status read(const JsonRef &ref, Kind &value) {
    LUMINAL_TRY(name, ref.asString());
    std::optional<Kind> kind = bufferKindFromName(name);
    if (!kind)
      return ref.error("is not a kind of buffer: '" + name + "'");
    value = *kind;
    return {};
  }

  static Status read(const JsonRef &ref, TargetSpec &target) {
    LUMINAL_CHECK(readMember(ref, "kind", target.kind));
    if (!makeLaunch(target.kind))
      return ref.error("there is no target '" + target.kind + "'");
    LUMINAL_CHECK(readMember(ref, "arch", target.arch));
    LUMINAL_CHECK(readOptional(ref, "cpu", target.cpu));
    LUMINAL_CHECK(readOptional(ref, "features", target.features));
    return readOptional(ref, "cubin", target.cubin);
  }

  static Status read(const JsonRef &ref, SymbolSpec &symbol) {
    LUMINAL_CHECK(readMember(ref, "name", symbol.name));
    LUMINAL_CHECK(readMember(ref, "min", symbol.range.lo));
    return readOptional(ref, "max", symbol.range.hi);
  }

  static Status read(const JsonRef &ref, IntegerInput &integer) {
    LUMINAL_CHECK(readMember(ref, "name", integer.name));
    return readMember(ref, "value", integer.value);
  }

  static Status read(const JsonRef &ref, Requirement &requirement) {
    LUMINAL_CHECK(readMember(ref, "what", requirement.what));
    LUMINAL_CHECK(readMember(ref, "lesser", requirement.lesser));
    LUMINAL_CHECK(readMember(ref, "greater", requirement.greater));
    return readMember(ref, "space", requirement.space);
  }

  static Status read(const JsonRef &ref, TensorSpec &tensor) {
    LUMINAL_CHECK(readMember(ref, "name", tensor.name));
    LUMINAL_CHECK(readMember(ref, "dtype", tensor.dtype));
    return readMember(ref, "shape", tensor.shape);
  }

  static Status read(const JsonRef &ref, InputSpec &input) {
    LUMINAL_CHECK(read(ref, static_cast<TensorSpec &>(input)));
    LUMINAL_CHECK(readMember(ref, "buffer", input.buffer));
    LUMINAL_CHECK(readOptional(ref, "state", input.state));
    LUMINAL_TRY(initial, ref.find("initial"));
    return initial ? readMember(*initial, "weight", input.initial) : Status();
  }

  static Status read(const JsonRef &ref, OutputSpec &output) {
    LUMINAL_CHECK(read(ref, static_cast<TensorSpec &>(output)));
    LUMINAL_CHECK(readMember(ref, "buffer", output.buffer));
    LUMINAL_CHECK(readOptional(ref, "updates", output.updates));
    return readOptional(ref, "assertion", output.assertion);
  }

  static Status read(const JsonRef &ref, WeightSpec &weight) {
    LUMINAL_CHECK(read(ref, static_cast<TensorSpec &>(weight)));
    LUMINAL_CHECK(readOptional(ref, "buffer", weight.buffer));
    LUMINAL_CHECK(readMember(ref, "offset", weight.offset));
    LUMINAL_CHECK(readMember(ref, "bytes", weight.bytes));
    return readOptional(ref, "member", weight.member);
  }

  static Status read(const JsonRef &ref, BufferSpec &buffer) {
    LUMINAL_CHECK(readMember(ref, "kind", buffer.kind));
    if (buffer.kind == Kind::Alias || buffer.kind == Kind::Prepared)
      LUMINAL_CHECK(readMember(ref, "of", buffer.of));
    if (buffer.kind != Kind::Alias && buffer.kind != Kind::Arena &&
        buffer.kind != Kind::Constant && buffer.kind != Kind::Counters)
      return {};
    if (buffer.kind != Kind::Counters)
      LUMINAL_CHECK(readMember(ref, "offset", buffer.offset));
    return readMember(ref, "bytes", buffer.bytes);
  }

  /// Reads the launch; its alternative is set by the caller.
  static Status read(const JsonRef &ref, LaunchSpec &launch) {
    Status status;
    visitFields(launch, [&](std::string_view name, auto &field) {
      if (status)
        status = readMember(ref, name, field);
    });
    return status;
  }

  static Status read(const JsonRef &ref, StepSpec &step) {
    LUMINAL_CHECK(readOptional(ref, "kernel", step.kernel));
    LUMINAL_CHECK(readMember(ref, "name", step.name));
    LUMINAL_CHECK(readOptional(ref, "nodes", step.nodes));
    LUMINAL_CHECK(readMember(ref, "buffers", step.buffers));
    LUMINAL_CHECK(readMember(ref, "results", step.results));
    LUMINAL_CHECK(readOptional(ref, "workspace", step.workspace));
    LUMINAL_CHECK(readMember(ref, "launch", step.launch));
    LUMINAL_CHECK(readOptional(ref, "traffic", step.traffic));
    return readOptional(ref, "flops", step.flops);
  }

  /// Checks the format name and the version.
  static Status checkVersion(const JsonRef &root) {
    std::string format;
    LUMINAL_CHECK(readMember(root, "format", format));
    if (format != "luminal")
      return root.error("is not the manifest of a Luminal artifact");
    LUMINAL_TRY(versionRef, root.at("version"));
    LUMINAL_TRY(version, versionRef.asInt());
    if (version != kManifestVersion)
      return versionRef.error("this runtime reads version " +
                              std::to_string(kManifestVersion) +
                              " of the format, the artifact has version " +
                              std::to_string(version));
    return {};
  }

  static Status read(const JsonRef &root, Manifest &m) {
    LUMINAL_CHECK(checkVersion(root));
    LUMINAL_CHECK(readMember(root, "producer", m.producer));
    LUMINAL_CHECK(readMember(root, "target", m.target));
    LUMINAL_CHECK(readMember(root, "symbols", m.symbols));
    LUMINAL_CHECK(readOptional(root, "integers", m.integers));
    LUMINAL_CHECK(readOptional(root, "requirements", m.requirements));
    LUMINAL_CHECK(readMember(root, "inputs", m.inputs));
    LUMINAL_CHECK(readMember(root, "outputs", m.outputs));
    LUMINAL_CHECK(readMember(root, "weights", m.weights));
    LUMINAL_CHECK(readMember(root, "weights_digest", m.weightsDigest));
    LUMINAL_CHECK(readOptional(root, "weights_embedded", m.weightsEmbedded));
    LUMINAL_CHECK(readOptional(root, "weights_file", m.weightsFile));
    LUMINAL_CHECK(readSchedule(root, m));
    LUMINAL_TRY(prepare, root.find("prepare"));
    if (prepare)
      LUMINAL_CHECK(readPrepare(*prepare, m));
    LUMINAL_TRY(variantsRef, root.find("variants"));
    if (!variantsRef)
      return {};
    LUMINAL_TRY(variants, variantsRef->asArray());
    if (variants.size() > kMaxVariants)
      return variantsRef->error("has " + std::to_string(variants.size()) +
                                " variants, more than " +
                                std::to_string(kMaxVariants));
    for (const JsonRef &variant : variants)
      LUMINAL_CHECK(readVariant(variant, m));
    return {};
  }

  /// Reads the buffers, the arena size and the steps.
  static Status readSchedule(const JsonRef &ref, Manifest &m) {
    LUMINAL_CHECK(readMember(ref, "buffers", m.buffers));
    LUMINAL_CHECK(readMember(ref, "arena_bytes", m.arenaBytes));
    LUMINAL_TRY(stepsRef, ref.at("steps"));
    LUMINAL_TRY(steps, stepsRef.asArray());
    for (const JsonRef &element : steps) {
      StepSpec &step = m.steps.emplace_back();
      LUMINAL_TRY(launch, element.at("launch"));
      std::string library;
      LUMINAL_CHECK(readOptional(launch, "library", library));
      std::optional<LaunchSpec> made = makeLaunch(m.target.kind, library);
      if (!made)
        return launch.error("the target '" + m.target.kind +
                            "' has no library '" + library + "'");
      step.launch = std::move(*made);
      LUMINAL_CHECK(read(element, step));
    }
    return {};
  }

  /// Reads which weights a nested schedule (prepare or a variant) uses, and
  /// their buffers.
  static Status readUses(const JsonRef &ref, Manifest &m) {
    for (WeightSpec &weight : m.weights)
      weight.buffer.reset();
    LUMINAL_TRY(usesRef, ref.at("weights"));
    LUMINAL_TRY(uses, usesRef.asArray());
    for (const JsonRef &use : uses) {
      uint32_t weight = 0, buffer = 0;
      LUMINAL_CHECK(readMember(use, "weight", weight));
      LUMINAL_CHECK(readMember(use, "buffer", buffer));
      if (weight >= m.weights.size())
        return use.error("there is no weight " + std::to_string(weight));
      if (m.weights[weight].buffer)
        return use.error("weight " + std::to_string(weight) +
                         " is listed twice");
      m.weights[weight].buffer = buffer;
    }
    return {};
  }

  /// Reads one buffer index for each of `specs`.
  template <typename Spec>
  static Status readBuffers(const JsonRef &ref, std::string_view key,
                            std::vector<Spec> &specs) {
    LUMINAL_TRY(list, ref.at(key));
    std::vector<uint32_t> buffers;
    LUMINAL_CHECK(read(list, buffers));
    if (buffers.size() != specs.size())
      return list.error("has " + std::to_string(buffers.size()) +
                        " buffers, expected " + std::to_string(specs.size()));
    for (size_t i = 0; i < specs.size(); ++i)
      specs[i].buffer = buffers[i];
    return {};
  }

  /// Reads a variant. Fields that it does not state are copied from `m`.
  static Status readVariant(const JsonRef &ref, Manifest &m) {
    auto variant = std::make_shared<Manifest>();
    variant->producer = m.producer;
    variant->target = m.target;
    variant->symbols = m.symbols;
    variant->inputs = m.inputs;
    variant->outputs = m.outputs;
    variant->weights = m.weights;
    variant->prepare = m.prepare;
    std::vector<SymbolSpec> ranges;
    LUMINAL_CHECK(readMember(ref, "ranges", ranges));
    for (const SymbolSpec &range : ranges) {
      auto symbol = std::find_if(
          variant->symbols.begin(), variant->symbols.end(),
          [&](const SymbolSpec &s) { return s.name == range.name; });
      if (symbol == variant->symbols.end())
        return ref.error("there is no symbol '" + range.name + "'");
      symbol->range = range.range;
    }
    LUMINAL_CHECK(readOptional(ref, "requirements", variant->requirements));
    LUMINAL_CHECK(readBuffers(ref, "inputs", variant->inputs));
    LUMINAL_CHECK(readBuffers(ref, "outputs", variant->outputs));
    LUMINAL_CHECK(readUses(ref, *variant));
    LUMINAL_CHECK(readSchedule(ref, *variant));
    m.variants.push_back(std::move(variant));
    return {};
  }

  /// Reads the prepare program; its `weights` name the ones of `m` that it
  /// reads.
  static Status readPrepare(const JsonRef &ref, Manifest &m) {
    auto prepare = std::make_shared<Manifest>();
    prepare->producer = m.producer;
    prepare->target = m.target;
    prepare->weights = m.weights;
    LUMINAL_CHECK(readUses(ref, *prepare));
    LUMINAL_CHECK(readMember(ref, "outputs", prepare->outputs));
    LUMINAL_CHECK(readSchedule(ref, *prepare));
    m.prepare = std::move(prepare);
    return {};
  }
};
} // namespace

Result<Manifest> Manifest::parse(std::string_view text, std::string name) {
  LUMINAL_TRY(document, JsonDocument::parse(text, name));
  Manifest m;
  LUMINAL_CHECK(Reader::read(document.root(), m));
  if (Status status = m.verify(); !status)
    return status.takeError().within(name);
  return m;
}
