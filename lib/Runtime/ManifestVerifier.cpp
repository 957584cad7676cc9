//===- ManifestVerifier.cpp - Verifies a manifest -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Manifest.h"
#include <algorithm>
#include <limits>
#include <map>
#include <set>

using namespace luminal;
using namespace luminal::runtime;
using Kind = BufferSpec::Kind;

namespace {
/// Verifies a manifest in one pass; each method returns the first error.
class Verifier {
public:
  /// If the manifest is a variant, `program` is the one that it belongs to.
  explicit Verifier(const Manifest &manifest, const Manifest *program = nullptr)
      : m(manifest), program(program) {}

  Status run() {
    if (!makeLaunch(m.target.kind))
      return Error("target.kind: there is no target '" + m.target.kind + "'");
    LUMINAL_CHECK(symbols());
    LUMINAL_CHECK(integers());
    LUMINAL_CHECK(requirements());
    LUMINAL_CHECK(buffers());
    LUMINAL_CHECK(weights());
    LUMINAL_CHECK(weightsFile());
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
    LUMINAL_CHECK(steps());
    // A variant's `prepare` is verified as that of its program.
    if (program)
      return {};
    if (m.prepare)
      if (Status status = prepare(); !status)
        return status.takeError().within("prepare");
    if (m.variants.size() > kMaxVariants)
      return Error("variants: are more than " + std::to_string(kMaxVariants));
    for (size_t i = 0; i < m.variants.size(); ++i)
      if (Status status = variant(*m.variants[i]); !status)
        return status.takeError().within(at("variants", i));
    return {};
  }

private:
  static std::string at(const char *list, size_t i) {
    return std::string(list) + "[" + std::to_string(i) + "]";
  }

  /// Checks that `e` has no dims and only known symbols.
  Status expr(const Expr &e, const std::string &where) {
    if (e.isUndefined())
      return Error(where + ": has no value");
    if (e.hasDims())
      return Error(where + ": '" + e.str() + "' has an index");
    std::vector<std::string> used;
    e.collectSymbols(used);
    for (const std::string &name : used)
      if (!std::binary_search(names.begin(), names.end(), name))
        return Error(where + ": '" + name + "' is not a symbol of the program");
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
                     "' is out of order or appears twice");
      if (symbol.range.hi && *symbol.range.hi < symbol.range.lo)
        return Error(at("symbols", i) + ": the range of '" + symbol.name +
                     "' is empty");
      names.push_back(symbol.name);
    }
    return {};
  }

  Status integers() {
    std::set<std::string_view> seen;
    for (size_t i = 0; i < m.integers.size(); ++i) {
      const IntegerInput &integer = m.integers[i];
      if (integer.name.find('\0') != std::string::npos)
        return Error(at("integers", i) + ".name: holds a zero byte");
      if (!seen.insert(integer.name).second)
        return Error(at("integers", i) + ".name: '" + integer.name +
                     "' appears twice");
      LUMINAL_CHECK(expr(integer.value, at("integers", i) + ".value"));
    }
    return {};
  }

  Status requirements() {
    for (size_t i = 0; i < m.requirements.size(); ++i) {
      const Requirement &requirement = m.requirements[i];
      std::string where = at("requirements", i);
      LUMINAL_CHECK(expr(requirement.lesser, where + ".lesser"));
      LUMINAL_CHECK(expr(requirement.greater, where + ".greater"));
      for (size_t k = 0; k < requirement.space.size(); ++k)
        LUMINAL_CHECK(expr(requirement.space[k],
                           where + ".space[" + std::to_string(k) + "]"));
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
                     ": a constant's offset depends on a symbol");
      if (buffer.kind == Kind::Prepared &&
          (!m.prepare || buffer.of >= m.prepare->outputs.size()))
        return Error(at("buffers", i) + ".of: 'prepare' has no output " +
                     std::to_string(buffer.of));
      // An alias refers to an earlier buffer, so every chain of aliases ends.
      if (buffer.kind == Kind::Alias && buffer.of >= i)
        return Error(at("buffers", i) +
                     ".of: an alias must be of an earlier buffer, not of " +
                     std::to_string(buffer.of));
    }
    return expr(m.arenaBytes, "arena_bytes");
  }

  Status tensor(const TensorSpec &tensor, const std::string &where) {
    // Names are passed through the C interface as C strings.
    if (tensor.name.find('\0') != std::string::npos)
      return Error(where + ".name: holds a zero byte");
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      LUMINAL_CHECK(
          expr(tensor.shape[i], where + ".shape[" + std::to_string(i) + "]"));
    return {};
  }

  /// Marks a buffer of `kind` as belonging to a tensor.
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
        return Error(where + ".name: '" + weight.name + "' appears twice");
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
        return Error(where + ".name: '" + input.name + "' appears twice");
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
      // Several outputs may be the same value.
      if (m.buffers[m.rootBuffer(output.buffer)].kind == Kind::Counters)
        return Error(where + ".buffer: buffer " +
                     std::to_string(output.buffer) + " holds counters");
      if (m.buffers[output.buffer].kind == Kind::Output) {
        auto [known, isNew] =
            outputTypes.emplace(output.buffer, typeText(output));
        if (!isNew && known->second != typeText(output))
          return Error(where + ".buffer: buffer " +
                       std::to_string(output.buffer) + " is " + known->second +
                       " by another output");
        owned[output.buffer] = true;
      }
      if (output.assertion &&
          (output.dtype != DType::I1 || !output.shape.empty() ||
           output.updates || output.assertion->find('\0') != std::string::npos))
        return Error(where + ".assertion: must be text, of an i1[] that "
                             "updates nothing");
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

  /// Also checks what ManifestParser guarantees, since a Manifest may be filled
  /// by other code.
  Status prepare() {
    const Manifest &p = *m.prepare;
    if (!p.symbols.empty() || !p.requirements.empty() || !p.inputs.empty() ||
        p.prepare)
      return Error("must have weights and outputs only");
    if (p.target.kind != m.target.kind)
      return Error("is for another target");
    if (p.weights.size() != m.weights.size())
      return Error("weights: differ from those of the program");
    for (size_t i = 0; i < p.weights.size(); ++i)
      if (p.weights[i].name != m.weights[i].name ||
          p.weights[i].dtype != m.weights[i].dtype ||
          p.weights[i].shape != m.weights[i].shape)
        return Error(at("weights", i) + ": differs from that of the program");
    std::set<uint32_t> written;
    for (size_t i = 0; i < p.outputs.size(); ++i) {
      if (!p.outputs[i].isUsers())
        return Error(at("outputs", i) +
                     ": must be neither a state nor an assertion");
      if (!constantBytes(p.outputs[i]))
        return Error(at("outputs", i) + ".shape: must be constant");
      uint32_t buffer = p.outputs[i].buffer;
      if (buffer >= p.buffers.size() ||
          p.buffers[buffer].kind != Kind::Output ||
          !written.insert(buffer).second)
        return Error(at("outputs", i) + ".buffer: buffer " +
                     std::to_string(buffer) +
                     " is not an output buffer of its own");
    }
    return p.verify();
  }

  /// Whether a tensor of a variant equals that of the program, except for its
  /// buffer.
  static bool isSame(const TensorSpec &a, const TensorSpec &b) {
    return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape;
  }

  Status variant(const Manifest &v) {
    if (!v.variants.empty())
      return Error("variants: a variant cannot have variants");
    if (v.target.kind != m.target.kind || v.prepare != m.prepare)
      return Error("has another target or another 'prepare' than the program");
    auto haveSame = [](const auto &ours, const auto &theirs, auto isEqual) {
      return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                        isEqual);
    };
    if (!haveSame(m.inputs, v.inputs,
                  [](const InputSpec &a, const InputSpec &b) {
                    return isSame(a, b) && a.state == b.state &&
                           a.initial == b.initial;
                  }))
      return Error("inputs: differ from those of the program");
    if (!haveSame(m.outputs, v.outputs,
                  [](const OutputSpec &a, const OutputSpec &b) {
                    return isSame(a, b) && a.updates == b.updates &&
                           a.assertion == b.assertion;
                  }))
      return Error("outputs: differ from those of the program");
    if (!haveSame(m.weights, v.weights,
                  [](const WeightSpec &a, const WeightSpec &b) {
                    return isSame(a, b);
                  }))
      return Error("weights: differ from those of the program");
    if (!haveSame(m.symbols, v.symbols,
                  [](const SymbolSpec &a, const SymbolSpec &b) {
                    return a.name == b.name;
                  }))
      return Error("symbols: differ from those of the program");
    for (size_t i = 0; i < v.symbols.size(); ++i) {
      const SymbolRange &range = v.symbols[i].range,
                        &whole = m.symbols[i].range;
      if (range.lo < whole.lo ||
          (whole.hi && (!range.hi || *range.hi > *whole.hi)))
        return Error("ranges: the range of '" + v.symbols[i].name +
                     "' is not inside that of the program");
    }
    return Verifier(v, &m).run();
  }

  Status launch(const StepSpec &step, const std::string &where) {
    if (getTargetName(step.launch) != m.target.kind)
      return Error(where + ": is for target '" +
                   std::string(getTargetName(step.launch)) +
                   "', but the artifact is for '" + m.target.kind + "'");
    Status status;
    visitExprs(step.launch, [&](std::string_view name, const Expr &e) {
      if (status)
        status = expr(e, where + "." + std::string(name));
    });
    return status;
  }

  /// Checks that counters are workspace of exactly one step, so that no step
  /// can observe another's counters.
  Status workspace(const StepSpec &step, const std::string &where) {
    for (size_t k = 0; k < step.buffers.size(); ++k) {
      const uint32_t buffer = step.buffers[k];
      const Kind kind = m.buffers[m.rootBuffer(buffer)].kind;
      const bool isWorkspace = k >= step.getFirstWorkspace();
      auto error = [&](const char *what) {
        return Error(where + ".buffers[" + std::to_string(k) + "]: buffer " +
                     std::to_string(buffer) + what);
      };
      if (isWorkspace && m.buffers[buffer].kind != Kind::Counters &&
          kind != Kind::Arena)
        return error(" is not memory for a workspace");
      if (kind != Kind::Counters)
        continue;
      if (!isWorkspace || m.buffers[buffer].kind != Kind::Counters)
        return error(" holds counters, which only a workspace may be");
      if (owned[buffer])
        return error(" holds counters of another step");
      owned[buffer] = true;
    }
    return {};
  }

  Status steps() {
    // For each buffer, whether steps may write it: weights, constants and plain
    // inputs are read-only.
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
      const bool isLibrary = !getLibraryName(step.launch).empty();
      if (step.kernel.empty() != isLibrary ||
          step.kernel.find('\0') != std::string::npos)
        return Error(where + ".kernel: is not a symbol name");
      for (uint32_t buffer : step.buffers)
        if (buffer >= m.buffers.size())
          return Error(where + ".buffers: there is no buffer " +
                       std::to_string(buffer));
      if (step.workspace > step.buffers.size() ||
          step.results > step.buffers.size() - step.workspace)
        return Error(where + ".results: more results than buffers");
      LUMINAL_CHECK(workspace(step, where));
      for (size_t k = step.getFirstResult(); k < step.getFirstWorkspace();
           ++k) {
        uint32_t buffer = step.buffers[k];
        if (!writable[buffer] && !states[m.rootBuffer(buffer)])
          return Error(where + ".buffers[" + std::to_string(k) + "]: buffer " +
                       std::to_string(buffer) + " may not be written");
      }
      LUMINAL_CHECK(launch(step, where + ".launch"));
      if (Status status = verifyLaunch(step.launch, step.buffers.size(),
                                       step.results, step.workspace);
          !status)
        return status.takeError().within(where + ".launch");
      LUMINAL_CHECK(expr(step.traffic, where + ".traffic"));
      LUMINAL_CHECK(expr(step.flops, where + ".flops"));
    }
    return {};
  }

  /// Checks that the path stays in the artifact's folder.
  Status weightsFile() {
    std::string_view rest = m.weightsFile;
    if (rest.empty())
      return {};
    bool good = rest.size() <= kMaxPath && rest.find('\0') == rest.npos;
    for (bool more = true; good && more;) {
      size_t slash = rest.find('/');
      std::string_view part = rest.substr(0, slash);
      good = !part.empty() && part != "." && part != "..";
      more = slash != rest.npos;
      rest = more ? rest.substr(slash + 1) : std::string_view();
    }
    if (!good)
      return Error("weights_file: is not a path of a file in the artifact's "
                   "folder or below");
    return {};
  }

  static constexpr size_t kMaxPath = 4096;
  const Manifest &m;
  const Manifest *program;
  std::vector<std::string> names;
  std::vector<bool> owned;
  std::map<uint32_t, std::string> outputTypes;
};
} // namespace

Status Manifest::verify() const { return Verifier(*this).run(); }
