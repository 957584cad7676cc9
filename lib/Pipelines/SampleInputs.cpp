//===- SampleInputs.cpp - Sample inputs for measurements ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Tools/luminal-compile/sample-input.test.
//
//===----------------------------------------------------------------------===//

#include "SampleInputs.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Support/Sha256.h"
#include "luminal/Support/SymbolSolver.h"
#include "luminal/Support/TensorFiles.h"

using namespace mlir;
using namespace luminal;

namespace {
/// An argument that the caller binds in each call.
struct Input {
  unsigned argument;
  TensorPort port;
  SmallVector<Expr> extents;
};
} // namespace

/// The inputs in the artifact's order: neither weights nor states with an
/// initial value.
static std::vector<Input> getInputs(func::FuncOp func) {
  std::vector<Input> inputs;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto kind = func.getArgAttrOfType<StringAttr>(i, hlir::kKindAttr);
    auto type = dyn_cast<RankedTensorType>(func.getArgument(i).getType());
    if (!type || (kind && kind.getValue() == "weight") ||
        func.getArgAttr(i, hlir::kSourceAttr))
      continue;
    std::optional<DType> dtype = hlir::getDType(type.getElementType());
    if (!dtype)
      continue;
    auto name = func.getArgAttrOfType<StringAttr>(i, hlir::kNameAttr);
    Input input{i, {}, hlir::getExtents(type)};
    input.port.name = name ? name.str() : "arg" + std::to_string(i);
    input.port.dtype = *dtype;
    input.port.type = std::string(dtypeName(*dtype)) + "[";
    for (auto [k, extent] : llvm::enumerate(input.extents))
      input.port.type += (k ? ", " : "") + extent.str();
    input.port.type += "]";
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Result<SampleInputs> SampleInputs::read(const std::vector<std::string> &files,
                                        func::FuncOp func) {
  std::vector<TensorPort> ports;
  for (Input &input : getInputs(func))
    ports.push_back(std::move(input.port));
  LUMINAL_TRY(found,
              readTensorFiles(files, ports, "input", /*asStored=*/false));
  SampleInputs samples;
  for (auto [port, tensor] : llvm::zip_equal(ports, found))
    if (tensor)
      samples.tensors.emplace(port.name, std::move(*tensor));
  LUMINAL_CHECK(samples.check(func));
  return samples;
}

Result<SampleInputs> SampleInputs::of(std::vector<HostTensor> inputs,
                                      func::FuncOp func) {
  std::vector<Input> expected = getInputs(func);
  if (inputs.size() != expected.size())
    return Error("there are " + std::to_string(inputs.size()) +
                 " tensors for " + std::to_string(expected.size()) + " inputs");
  SampleInputs samples;
  for (auto [input, tensor] : llvm::zip_equal(expected, inputs))
    samples.tensors.emplace(input.port.name, std::move(tensor));
  LUMINAL_CHECK(samples.check(func));
  return samples;
}

/// Checks types and extents, and computes the sizes from them.
Status SampleInputs::check(func::FuncOp func) {
  std::vector<Expr> extents;
  std::vector<int64_t> values;
  std::vector<std::string> places;
  for (const Input &input : getInputs(func)) {
    const HostTensor *tensor = find(input.port.name);
    if (!tensor)
      continue;
    std::string where = "sample of input '" + input.port.name + "': ";
    if (tensor->dtype != input.port.dtype ||
        tensor->shape.size() != input.extents.size())
      return Error(where + "is " + typeText(*tensor) + ", expected " +
                   input.port.type);
    for (auto [axis, extent] : llvm::enumerate(input.extents)) {
      extents.push_back(extent);
      values.push_back(tensor->shape[axis]);
      places.push_back(where + "dim " + std::to_string(axis) + " is " +
                       std::to_string(values.back()) + ", ");
    }
  }
  std::vector<NamedRange> symbols;
  if (auto table = func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr))
    for (const hlir::SymbolEntry &entry : table.getEntries())
      symbols.push_back({entry.name.str(), entry.range});
  auto known = [&](std::string_view name) -> std::optional<int64_t> {
    auto it = sizes.find(std::string(name));
    return it == sizes.end() ? std::nullopt : std::optional(it->second);
  };
  for (const SymbolSource &source : planSymbols(symbols, extents)) {
    const NamedRange &symbol = symbols[source.symbol];
    if (source.kind == SymbolSource::Kind::Range) {
      sizes[symbol.name] = symbol.range.lo;
      continue;
    }
    Result<int64_t> value = solveSymbol(source, symbol, extents[source.extent],
                                        values[source.extent], known);
    if (!value)
      return Error(places[source.extent] + value.error().message);
    sizes[symbol.name] = *value;
  }
  for (auto [extent, value, place] : llvm::zip_equal(extents, values, places)) {
    std::optional<int64_t> expected = extent.evaluate(known);
    std::vector<std::string> used;
    extent.collectSymbols(used);
    // Not every symbol is known: samples of other inputs might determine it.
    bool isOpen = llvm::any_of(
        used, [&](const std::string &name) { return !known(name); });
    if (isOpen || expected == value)
      continue;
    std::string text = place + "expected " +
                       (expected ? std::to_string(*expected) : "a number");
    if (!used.empty()) {
      text += " (" + extent.str();
      for (const std::string &name : used)
        text += ", " + name + " is " + std::to_string(*known(name));
      text += ")";
    }
    return Error(text);
  }
  return {};
}

SampleInputs SampleInputs::within(func::FuncOp func) const {
  if (auto table = func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr))
    for (const hlir::SymbolEntry &entry : table.getEntries())
      if (auto it = sizes.find(entry.name.str());
          it != sizes.end() &&
          (it->second < entry.range.lo ||
           (entry.range.hi && it->second > *entry.range.hi)))
        return {};
  return *this;
}

std::string SampleInputs::digest() const {
  if (tensors.empty())
    return {};
  Sha256 hash;
  for (const auto &[name, tensor] : tensors) {
    hash.update(name + " " + typeText(tensor) + "\n");
    hash.update(tensor.bytes.text());
  }
  return hash.hex();
}
