//===- Manifest.cpp - The manifest of an artifact -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Manifest.h"
#include <iterator>

using namespace luminal;
using namespace luminal::runtime;
using Kind = BufferSpec::Kind;

constexpr std::string_view kKindNames[] = {"input",    "output",   "weight",
                                           "constant", "prepared", "arena",
                                           "alias",    "counters"};

std::string_view runtime::bufferKindName(Kind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

std::optional<Kind> runtime::bufferKindFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kKindNames); ++i)
    if (kKindNames[i] == name)
      return static_cast<Kind>(i);
  return std::nullopt;
}

std::optional<uint64_t> runtime::constantBytes(const TensorSpec &tensor) {
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

std::string Manifest::getGuardText(const Manifest &program) const {
  std::string text;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const SymbolRange &range = symbols[i].range,
                      &whole = program.symbols[i].range;
    if (range.lo == whole.lo && range.hi == whole.hi)
      continue;
    text += (text.empty() ? "" : ", ") + symbols[i].name + " in [" +
            std::to_string(range.lo) + ", " +
            (range.hi ? std::to_string(*range.hi) : "") + "]";
  }
  return text;
}

void Manifest::nameSteps(const ModuleTable &table) {
  for (StepSpec &step : steps)
    if (std::string modules = joinModulePaths(step.nodes, table);
        !modules.empty())
      step.name = modules + " (" + std::string(step.getKind()) + ")";
  auto name = [&](std::shared_ptr<const Manifest> &of) {
    auto named = std::make_shared<Manifest>(*of);
    named->nameSteps(table);
    of = std::move(named);
  };
  if (prepare)
    name(prepare);
  for (std::shared_ptr<const Manifest> &variant : variants)
    name(variant);
}

uint32_t Manifest::rootBuffer(uint32_t index) const {
  // verify() has checked that alias chains end.
  while (buffers[index].kind == Kind::Alias)
    index = buffers[index].of;
  return index;
}
