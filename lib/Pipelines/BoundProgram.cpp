//===- BoundProgram.cpp - A loaded artifact and its operands --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BoundProgram.h"
#include "luminal/Pipelines/KernelKey.h"
#include "luminal/Support/Scalar.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

using namespace luminal;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Number of random elements that are generated; longer operands repeat them.
static constexpr size_t kPattern = 1 << 16;

const void *Operands::get(size_t position, const runtime::TensorSpec &spec,
                          std::span<const int64_t> shape, bool isWeight) {
  const DType dtype = spec.dtype;
  std::optional<int64_t> bytes = tensorBytes(dtype, shape.data(), shape.size());
  if (!bytes)
    return nullptr;
  std::vector<Line> &lines = memory[position];
  if (!lines.empty())
    return lines.data();
  lines.resize(*bytes / sizeof(Line) + 1);
  auto *data = reinterpret_cast<uint8_t *>(lines.data());
  const HostTensor *sample =
      samples && !isWeight ? samples->find(spec.name) : nullptr;
  if (sample && sample->dtype == dtype &&
      std::ranges::equal(sample->shape, shape)) {
    std::memcpy(data, sample->bytes.data, *bytes);
    return data;
  }
  bool isFloat = isFloatDType(dtype);
  if ((!isFloat && dtype != DType::I1) || *bytes == 0)
    return data;
  std::mt19937_64 random(position + 1);
  double least = 1, most = 2;
  if (values == Values::Centred && isFloat) {
    bool isRow = shape.size() < 2;
    double bound =
        isWeight && !isRow ? std::sqrt(3.0 / double(shape.back())) : 1;
    least = isWeight && isRow ? 0.5 : -bound;
    most = isWeight && isRow ? 1.5 : bound;
  }
  size_t size = dtypeSize(dtype);
  size_t count = std::min<size_t>(*bytes / size, kPattern);
  for (size_t i = 0; i < count; ++i) {
    double unit = double(random() >> 11) * 0x1p-53;
    if (isFloat)
      storeFloat(dtype, least + unit * (most - least), data + i * size);
    else
      storeInt(dtype, unit < 0.5, data + i * size);
  }
  for (size_t done = count * size; done < size_t(*bytes);) {
    size_t part = std::min(done, size_t(*bytes) - done);
    std::memcpy(data + done, data, part);
    done += part;
  }
  return data;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<BoundProgram>>
BoundProgram::create(std::shared_ptr<const runtime::Artifact> artifact,
                     unsigned threads, const TimedSizes &sizes,
                     Operands &operands, const BoundProgram *weightsOf) {
  std::unique_ptr<BoundProgram> program(new BoundProgram(artifact));
  runtime::ContextOptions options;
  options.threads = threads;
  LUMINAL_TRY(context, runtime::Context::create(artifact, options));
  program->context = std::move(context);
  LUMINAL_CHECK(program->bind(sizes, operands, weightsOf));
  return program;
}

static HostTensor borrow(const runtime::TensorSpec &spec,
                         std::vector<int64_t> shape, const void *data) {
  HostTensor tensor{spec.name, spec.dtype, std::move(shape), {}};
  tensor.bytes.data = static_cast<const uint8_t *>(data);
  tensor.bytes.size = *tensorBytes(tensor.dtype, tensor.shape);
  return tensor;
}

Status BoundProgram::bind(const TimedSizes &sizes, Operands &operands,
                          const BoundProgram *weightsOf) {
  const runtime::Manifest &m = artifact->getManifest();
  std::map<std::string, int64_t, std::less<>> values;
  for (const runtime::SymbolSpec &symbol : m.symbols) {
    auto it = sizes.find(symbol.name);
    values[symbol.name] =
        it != sizes.end() ? it->second : getTimedSize(symbol.range);
  }
  auto valueOf = [&](std::string_view name) -> std::optional<int64_t> {
    auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
  for (uint32_t i = 0; i < m.integers.size(); ++i) {
    std::optional<int64_t> value = m.integers[i].value.evaluate(valueOf);
    if (!value)
      return Error("'" + m.integers[i].name + "' has no value");
    LUMINAL_CHECK(context->bindInteger(i, *value));
  }
  size_t position = 0;
  auto bindOne = [&](const runtime::TensorSpec &spec, bool isWeight,
                     auto bindTo) -> Status {
    std::vector<int64_t> shape;
    for (const Expr &extent : spec.shape) {
      std::optional<int64_t> n = extent.evaluate(valueOf);
      if (!n || *n < 0)
        return Error("'" + spec.name + "' has no size");
      shape.push_back(*n);
    }
    const void *data = operands.get(position++, spec, shape, isWeight);
    if (!data)
      return Error("'" + spec.name + "' is too large");
    return bindTo(data, shape);
  };
  inputs.resize(m.inputs.size());
  for (uint32_t i = 0; i < m.inputs.size(); ++i) {
    // A state with an initial value starts from it.
    if (m.inputs[i].initial && artifact->getWeight(*m.inputs[i].initial))
      continue;
    LUMINAL_CHECK(
        bindOne(m.inputs[i], false, [&](const void *data, auto &shape) {
          const DType dtype = m.inputs[i].dtype;
          inputs[i] = borrow(m.inputs[i], shape, data);
          if (m.inputs[i].state) {
            auto bytes = size_t(*tensorBytes(dtype, shape));
            states.push_back({data, bytes, {}});
            states.back().reset();
            data = states.back().memory.data();
          }
          return context->bindInput(i, data, dtype, shape);
        }));
  }
  if (weightsOf)
    weights = weightsOf->weights;
  else
    for (const runtime::WeightSpec &weight : m.weights) {
      std::vector<int64_t> shape;
      for (const Expr &extent : weight.shape)
        shape.push_back(extent.asConstant().value_or(0));
      weights.push_back(borrow(weight, std::move(shape),
                               artifact->getWeight(weights.size())));
    }
  for (uint32_t i = 0; i < m.weights.size(); ++i) {
    if (artifact->getWeight(i))
      continue;
    auto bindWeight = [&](const void *data, std::span<const int64_t> shape) {
      weights[i].bytes.data = static_cast<const uint8_t *>(data);
      return context->bindWeight(i, data, m.weights[i].dtype, shape);
    };
    LUMINAL_CHECK(weightsOf
                      ? bindWeight(weights[i].bytes.data, weights[i].shape)
                      : bindOne(m.weights[i], true, bindWeight));
  }
  for (uint32_t i = 0; i < m.inputs.size(); ++i)
    if (!inputs[i].bytes.data && m.inputs[i].initial)
      inputs[i] = weights[*m.inputs[i].initial];
  return {};
}

void BoundProgram::State::reset() {
  memory.resize(bytes / sizeof(Operands::Line) + 1);
  std::memcpy(memory.data(), initial, bytes);
}

namespace {
/// Sums up the traffic and operations of the steps, and forwards to another
/// listener.
class Counter : public runtime::StepListener {
public:
  explicit Counter(runtime::StepListener *other) : other(other) {}
  void before(const runtime::StepReport &report) override {
    traffic += report.traffic;
    flops += report.flops;
    if (other)
      other->before(report);
  }
  Status after(const runtime::StepReport &report) override {
    return other ? other->after(report) : Status();
  }
  int64_t traffic = 0, flops = 0;

private:
  runtime::StepListener *other;
};
} // namespace

Result<std::vector<HostTensor>>
BoundProgram::compute(runtime::StepListener *listener) {
  Counter counter(listener);
  context->resetStates();
  for (State &state : states)
    state.reset();
  // Ignore failed assertions: generated inputs need not satisfy them.
  if (Status done = context->run(&counter);
      !done && !context->failedAssertion())
    return done.takeError();
  traffic = counter.traffic;
  flops = counter.flops;
  std::vector<HostTensor> outputs;
  const runtime::Manifest &m = artifact->getManifest();
  for (uint32_t i : artifact->getUserOutputs()) {
    HostTensor output;
    output.name = m.outputs[i].name;
    output.dtype = m.outputs[i].dtype;
    std::span<const int64_t> shape = context->getOutputShape(i);
    output.shape.assign(shape.begin(), shape.end());
    LUMINAL_TRY(from, context->getOutputData(i));
    uint8_t *to = allocateTensor(output);
    LUMINAL_CHECK(context->readMemory(from, to, output.bytes.size));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

Result<double> BoundProgram::time(unsigned repeats) {
  constexpr double kNanoseconds = 1e9;
  LUMINAL_TRY(each, context->timeSteps(repeats));
  return each / kNanoseconds;
}

//===----------------------------------------------------------------------===//
// Equal results
//===----------------------------------------------------------------------===//

/// Half the distance between neighbouring floats at 1 (the unit roundoff).
static double getUnit(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return 0x1p-53;
  case DType::F32:
    return 0x1p-24;
  case DType::F16:
    return 0x1p-11;
  case DType::BF16:
    return 0x1p-8;
  default:
    return 0x1p-3;
  }
}

void Closeness::addRounding(const std::vector<HostTensor> &expected,
                            const std::vector<HostTensor> &rounded) {
  rounding.resize(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    std::vector<double> x = toDoubles(expected[i]), y = toDoubles(rounded[i]);
    rounding[i].isOpen.resize(x.size());
    bool isFloat = isFloatDType(expected[i].dtype);
    for (size_t k = 0; k < x.size(); ++k) {
      if (x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k])))
        continue;
      if (isFloat && std::isfinite(x[k]) && std::isfinite(y[k]))
        rounding[i].most = std::max(rounding[i].most, std::abs(x[k] - y[k]));
      else
        rounding[i].isOpen[k] = true;
    }
  }
}

static std::string toText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

std::string luminal::describeDifference(const std::vector<HostTensor> &expected,
                                        const std::vector<HostTensor> &found,
                                        const Closeness &closeness) {
  if (expected.size() != found.size())
    return "has other outputs";
  for (size_t i = 0; i < expected.size(); ++i) {
    const HostTensor &a = expected[i], &b = found[i];
    std::string where = "output '" + a.name + "' ";
    if (a.dtype != b.dtype || a.shape != b.shape)
      return where + "is " + typeText(b) + ", expected " + typeText(a);
    std::vector<double> x = toDoubles(a), y = toDoubles(b);
    double scale = 0;
    for (double value : x)
      if (std::isfinite(value))
        scale = std::max(scale, std::abs(value));
    bool isFloat = isFloatDType(a.dtype);
    // Sums accumulate with at least 24 bits; a few units are allowed for
    // rounding in functions.
    constexpr double kUnits = 4, kFunctions = 64;
    double allowed =
        isFloat ? scale * closeness.depth *
                      (kUnits * getUnit(a.dtype) +
                       (kFunctions + kUnits * closeness.terms) *
                           std::min(getUnit(a.dtype), getUnit(DType::F32)))
                : 0;
    const Closeness::Rounding none;
    const Closeness::Rounding &rounding =
        closeness.rounding.empty() ? none : closeness.rounding[i];
    constexpr double kRoundings = 4;
    allowed += kRoundings * rounding.most;
    size_t numApart = 0, first = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      bool isSame = x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k])) ||
                    std::abs(x[k] - y[k]) <= allowed ||
                    (!rounding.isOpen.empty() && rounding.isOpen[k]);
      if (!isSame && !numApart++)
        first = k;
    }
    constexpr size_t kOneIn = 256;
    if (numApart > (isFloat ? 0 : x.size() / kOneIn))
      return where + "has " + toText(y[first]) + " at element " +
             std::to_string(first) + ", expected " + toText(x[first]) +
             " to within " + toText(allowed);
  }
  return {};
}
