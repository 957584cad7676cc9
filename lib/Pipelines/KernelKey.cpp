//===- KernelKey.cpp - Keys of timed kernels ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Pipelines/KernelKey.h"
#include "luminal/Dialect/LLIR/Utils/KernelClasses.h"
#include "luminal/Runtime/Device.h"
#include "luminal/Runtime/Machine.h"
#include "luminal/Support/Sha256.h"
#include "luminal/Support/Version.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace luminal;

std::string TimingDevice::str() const {
  std::string text;
  llvm::raw_string_ostream(text)
      << "target " << target << "\narch " << arch << "\nworkers " << workers
      << "\nthreads " << threads << "\ndevice " << device << "\ncompiler "
      << LUMINAL_VERSION << ", LLVM " << LLVM_VERSION_STRING << "\n";
  return text;
}

Result<TimingDevice> luminal::getTimingDevice(const TargetInterface &device,
                                              StringRef arch,
                                              unsigned threads) {
  LUMINAL_TRY(opened, runtime::openDevice(device.getName().str()));
  runtime::DeviceInfo info = opened->describe();
  MachineModel machine = device.getMachine();
  TimingDevice result;
  result.target = device.getName();
  result.arch = arch.str();
  result.workers = machine.workers;
  result.threads = threads;
  llvm::raw_string_ostream stream(result.device);
  stream << info.name << "; " << info.arch << "; " << info.driver;
  for (const auto &[name, value] : info.properties)
    stream << "; " << name << " " << value;
  // The device that shares memory with the host is the host's processor.
  if (opened->sharesMemory()) {
    runtime::Processor host = runtime::Processor::getHost();
    stream << "; " << host.vendor << "; " << host.name << "; " << host.family
           << "; " << host.model << "; " << host.stepping << "; "
           << host.microcode << "; " << llvm::join(host.features, ",");
  }
  stream << "; vectors " << machine.vectorBits << " x "
         << machine.vectorRegisters;
  return result;
}

int64_t luminal::getTimedSize(const SymbolRange &range) {
  constexpr int64_t kUsual = 64;
  return std::min(std::max(kUsual, range.lo),
                  range.hi.value_or(std::max(kUsual, range.lo)));
}

//===----------------------------------------------------------------------===//
// Alone
//===----------------------------------------------------------------------===//

namespace {
/// The symbols of an op in order of appearance.
class SymbolNames {
public:
  explicit SymbolNames(Operation *op);

  ArrayRef<std::string> get() const { return names; }
  /// Renames the symbols in `op`.
  void apply(Operation *op) const;

private:
  void add(const Expr &e);
  Expr rename(const Expr &e) const;

  std::vector<std::string> names;
  llvm::StringMap<unsigned> positions;
};
} // namespace

void SymbolNames::add(const Expr &e) {
  std::vector<std::string> used;
  e.collectSymbols(used);
  for (std::string &name : used)
    if (positions.try_emplace(name, names.size()).second)
      names.push_back(std::move(name));
}

SymbolNames::SymbolNames(Operation *op) {
  AttrTypeWalker walker;
  walker.addWalk([&](hlir::DimsAttr dims) {
    for (const Expr &e : dims.getExprs())
      add(e);
  });
  walker.addWalk([&](hlir::MapAttr map) {
    for (const Expr &e : map.getResults())
      add(e);
  });
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    for (Type type : inner->getOperandTypes())
      walker.walk(type);
    for (Type type : inner->getResultTypes())
      walker.walk(type);
    walker.walk(inner->getAttrDictionary());
  });
}

Expr SymbolNames::rename(const Expr &e) const {
  return e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    std::optional<std::string_view> name = leaf.asSymbol();
    if (!name)
      return std::nullopt;
    auto it = positions.find(StringRef(*name));
    if (it == positions.end())
      return std::nullopt;
    return Expr::symbol("s" + std::to_string(it->second));
  });
}

void SymbolNames::apply(Operation *op) const {
  AttrTypeReplacer replacer;
  auto renameAll = [&](ArrayRef<Expr> exprs) {
    return llvm::map_to_vector(exprs, [&](const Expr &e) { return rename(e); });
  };
  replacer.addReplacement([&](hlir::DimsAttr dims) -> std::optional<Attribute> {
    return hlir::DimsAttr::get(dims.getContext(), renameAll(dims.getExprs()));
  });
  replacer.addReplacement([&](hlir::MapAttr map) -> std::optional<Attribute> {
    return hlir::MapAttr::get(map.getContext(), map.getNumDims(),
                              renameAll(map.getResults()));
  });
  replacer.recursivelyReplaceElementsIn(op, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

LoneKernel luminal::isolateKernel(Operation *op,
                                  ArrayRef<hlir::SymbolEntry> symbols) {
  MLIRContext *context = op->getContext();
  context->loadDialect<func::FuncDialect>();
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  SymbolNames names(op);

  // Operands that are the same value become one argument.
  llvm::MapVector<Value, unsigned> operands;
  for (Value operand : op->getOperands())
    operands.insert({operand, unsigned(operands.size())});
  SmallVector<Type> types;
  for (const auto &[operand, position] : operands)
    types.push_back(operand.getType());
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  for (const std::string &name : names.get())
    types.push_back(
        hlir::getTensorType({Expr::symbol(name)}, b.getIntegerType(1)));
  auto function = func::FuncOp::create(
      b, loc, "main", b.getFunctionType(types, op->getResultTypes()));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  IRMapping map;
  for (const auto &[operand, position] : operands)
    map.map(operand, body->getArgument(position));
  Operation *copy = b.clone(*op, map);
  copy->setDiscardableAttrs(DictionaryAttr::get(context));
  if (auto kernel = dyn_cast<llir::KernelOp>(copy);
      kernel && kernel.getInPlace()) {
    unsigned state = operands.lookup(op->getOperand(0));
    function.setArgAttr(state, hlir::kKindAttr, b.getStringAttr("state"));
    function.setResultAttr(0, hlir::kUpdatesAttr, b.getI64IntegerAttr(state));
  }
  func::ReturnOp::create(b, loc, copy->getResults());
  names.apply(function);

  SmallVector<hlir::SymbolEntry> entries;
  for (auto [i, name] : llvm::enumerate(names.get())) {
    const auto *it = llvm::find_if(
        symbols, [&](const hlir::SymbolEntry &e) { return e.name == name; });
    entries.emplace_back("s" + std::to_string(i),
                         it != symbols.end() ? it->range : SymbolRange());
  }
  llvm::sort(entries,
             [](const auto &x, const auto &y) { return x.name < y.name; });
  if (!entries.empty())
    function->setAttr(hlir::kSymbolsAttr,
                      hlir::SymbolsAttr::get(context, entries));
  LoneKernel result;
  result.symbols = names.get().vec();
  result.text = llir::getKernelText(function);
  return result;
}

std::string luminal::getKernelKey(const LoneKernel &kernel,
                                  ArrayRef<int64_t> sizes,
                                  const TimingDevice &device) {
  Sha256 hash;
  hash.update("luminal kernel\n");
  hash.update(device.str());
  for (int64_t size : sizes)
    hash.update("size " + std::to_string(size) + "\n");
  hash.update(kernel.text);
  return hash.hex();
}
