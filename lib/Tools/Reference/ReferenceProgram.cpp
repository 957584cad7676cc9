//===- ReferenceProgram.cpp - Runs a function by the interpreter ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Reference/ReferenceProgram.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::tools;

static Runnable::Port getPort(Type type, DictionaryAttr attributes,
                              const std::string &name) {
  auto tensor = cast<RankedTensorType>(type);
  Runnable::Port port;
  auto given =
      attributes ? attributes.getAs<StringAttr>(hlir::kNameAttr) : StringAttr();
  port.name = given ? given.str() : name;
  port.dtype = *hlir::getDType(tensor.getElementType());
  port.type = std::string(dtypeName(port.dtype)) + "[";
  for (auto [i, extent] : llvm::enumerate(hlir::getExtents(tensor)))
    port.type += (i ? ", " : "") + extent.str();
  port.type += "]";
  return port;
}

Status ReferenceProgram::openWeights() {
  if (archive || safeTensors)
    return {};
  Result<ZipArchive> zip = ZipArchive::open(weightsPath);
  if (zip) {
    archive.emplace(std::move(*zip));
    return {};
  }
  LUMINAL_TRY(tensors, SafeTensors::open(weightsPath));
  safeTensors.emplace(std::move(tensors));
  return {};
}

Result<HostTensor> ReferenceProgram::readWeight(unsigned index,
                                                DictionaryAttr source) {
  Runnable::Port port =
      getPort(func.getArgument(index).getType(), func.getArgAttrDict(index),
              "arg" + std::to_string(index));
  HostTensor tensor{port.name, port.dtype, {}, {}};
  auto type = cast<RankedTensorType>(func.getArgument(index).getType());
  if (!type.hasStaticShape())
    return Error(port.name + ": a weight has no dynamic shape");
  tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  uint64_t size = *tensorBytes(tensor.dtype, tensor.shape);
  LUMINAL_CHECK(openWeights());
  if (safeTensors) {
    const HostTensor *found = safeTensors->find(port.name);
    if (!found || found->dtype != port.dtype || found->shape != tensor.shape)
      return Error(weightsPath + ": has no '" + port.name + "' of type " +
                   port.type);
    return *found;
  }
  auto member = source ? source.getAs<StringAttr>("member") : StringAttr();
  auto offset = source ? source.getAs<IntegerAttr>("offset") : IntegerAttr();
  if (!member || !offset || offset.getInt() < 0)
    return Error(port.name + ": no file or source holds its bytes");
  // Archive weights are loaded later, all at once.
  runtime::WeightSpec &weight = inArchive.emplace_back();
  weight.name = port.name;
  weight.member = member.getValue().str();
  weight.offset = offset.getInt();
  weight.bytes = tensor.bytes.size = size;
  return tensor;
}

/// Rejects a program that calls a user kernel without a reference function.
Status ReferenceProgram::checkKernels() {
  std::string problem;
  func.walk([&](Operation *op) {
    StringRef name;
    if (auto custom = dyn_cast<hlir::CustomOp>(op))
      name = custom.getName();
    else if (auto call = dyn_cast<llir::CallOp>(op))
      name = call.getName();
    else
      return WalkResult::advance();
    const UserKernel *kernel = kernels.find(name);
    if (kernel && kernel->reference)
      return WalkResult::advance();
    std::string place = hlir::describePlace(op->getLoc());
    problem = (place.empty() ? "" : place + ": ") + "kernel '" + name.str() +
              (kernel ? "' has no reference, which the interpreter needs"
                      : "' is not declared (--kernels)");
    return WalkResult::interrupt();
  });
  return problem.empty() ? Status() : Status(Error(problem));
}

std::optional<SmallVector<reference::Tensor>>
ReferenceProgram::runKernel(StringRef name,
                            ArrayRef<reference::Tensor> inputs) {
  FailureOr<SmallVector<reference::Tensor>> results =
      reference::evaluate(kernels.find(name)->reference, inputs);
  return succeeded(results) ? std::optional(std::move(*results)) : std::nullopt;
}

Status ReferenceProgram::load() {
  LUMINAL_CHECK(checkKernels());
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto kind = func.getArgAttrOfType<StringAttr>(i, hlir::kKindAttr);
    auto source = func.getArgAttrOfType<DictionaryAttr>(i, hlir::kSourceAttr);
    bool isWeight = kind && kind.getValue() == "weight";
    if (!isWeight && !source) {
      inputs.push_back(getPort(func.getArgument(i).getType(),
                               func.getArgAttrDict(i),
                               "arg" + std::to_string(i)));
      inputIndices.push_back(i);
      continue;
    }
    LUMINAL_TRY(tensor, readWeight(i, source));
    weightIndices.push_back(i);
    weights.push_back(std::move(tensor));
  }
  for (const IntegerInput &integer : hlir::getIntegers(func))
    inputs.push_back({integer.name, DType::I64, "i64[]", true});
  if (archive) {
    LUMINAL_TRY(found, runtime::findWeights(*archive, inArchive));
    for (auto [tensor, bytes] : llvm::zip_equal(weights, found))
      tensor.bytes = std::move(bytes);
  }
  for (auto [index, tensor] : llvm::zip_equal(weightIndices, weights))
    arguments[index] = reference::Tensor::borrow(tensor.dtype, tensor.shape,
                                                 tensor.bytes.data);
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (!func.getResultAttr(i, hlir::kUpdatesAttr) &&
        !func.getResultAttr(i, hlir::kAssertionAttr))
      outputPorts.push_back(getPort(func.getResultTypes()[i],
                                    func.getResultAttrDict(i),
                                    "output_" + std::to_string(i)));
  return {};
}

Status ReferenceProgram::bind(std::vector<HostTensor> tensors) {
  bound = std::move(tensors);
  for (size_t k = inputIndices.size(); k < bound.size(); ++k) {
    LUMINAL_TRY(value, getInteger(bound[k]));
    integers[inputs[k].name] = value;
  }
  for (auto [index, tensor] : llvm::zip_first(inputIndices, bound))
    arguments[index] = reference::Tensor::borrow(tensor.dtype, tensor.shape,
                                                 tensor.bytes.data);
  return {};
}

Status ReferenceProgram::call() {
  std::string message;
  ScopedDiagnosticHandler collect(func.getContext(), [&](Diagnostic &d) {
    if (message.empty())
      message = d.str();
    return success();
  });
  FailureOr<SmallVector<reference::Tensor>> values = reference::evaluate(
      func, arguments,
      {.custom = [&](StringRef name, ArrayRef<reference::Tensor> inputs,
                     DictionaryAttr) { return runKernel(name, inputs); },
       .integers = integers});
  if (failed(values))
    return Error(message.empty() ? "evaluating failed" : message);
  answers.clear();
  results.assign(values->begin(), values->end());
  for (auto [i, value] : llvm::enumerate(results)) {
    if (auto updates =
            func.getResultAttrOfType<IntegerAttr>(i, hlir::kUpdatesAttr)) {
      arguments[updates.getInt()] = value;
      continue;
    }
    if (auto assertion =
            func.getResultAttrOfType<StringAttr>(i, hlir::kAssertionAttr)) {
      if (*value.data() == 0)
        return Error(assertion.str());
      continue;
    }
    HostTensor tensor{outputPorts[answers.size()].name,
                      value.getDType(),
                      {value.getShape().begin(), value.getShape().end()},
                      {}};
    tensor.bytes.data = reinterpret_cast<const uint8_t *>(value.data());
    tensor.bytes.size = value.getNumBytes();
    answers.push_back(std::move(tensor));
  }
  return {};
}
