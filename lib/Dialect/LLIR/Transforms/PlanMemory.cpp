//===- PlanMemory.cpp - From kernels over tensors to steps over buffers ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func @main(%x) {                   llir.schedule @main arena(64) {
//     %0 = kernel(%x) ...            %x = argument input "x"
//     %1 = kernel(%0) ...            %0 = slot offset(0) bytes(64)
//     return %1                  -->     step "map" @k0(%x) writes(%0)
//   }                                    %y = result
//                                        step "map" @k1(%0) writes(%y)
//                                        output "y" %y
//                                      }
//
// Tested by test/Dialect/LLIR/plan-memory.mlir.
//
//===----------------------------------------------------------------------===//

#include "Arena.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace luminal::llir {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-plan-memory"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

namespace {
/// Memory that holds values.
struct Storage {
  enum class Kind { Argument, Data, Slot, Counters, Result } kind;
  /// The argument, constant or kernel result that it was allocated for; of a
  /// workspace the first result of its kernel.
  Value value;
  Expr bytes;
  /// Its live range, in steps.
  unsigned first = 0, last = 0;
  /// The buffer of the schedule.
  Value buffer;
};

/// A value's location.
struct Place {
  unsigned storage;
  Expr offset;
};

class Planner {
public:
  Planner(func::FuncOp func, const Assumptions &symbols)
      : func(func), symbols(symbols), context(func.getContext()) {}

  LogicalResult assignStorage();
  LogicalResult assignResults();
  /// Builds the schedule and the functions of the kernels.
  void build(OpBuilder &builder);

private:
  void addStorage(Storage::Kind kind, Value value, unsigned step);
  void addWorkspace(KernelOp kernel, unsigned step);
  Expr planArena(SmallVectorImpl<Expr> &offsets);
  void tellArena(ArrayRef<ArenaRequest> requests, const Expr &arena);
  void tellSharing();
  void buildArguments(ImplicitLocOpBuilder &b);
  void buildBuffers(ImplicitLocOpBuilder &b, ArrayRef<Expr> offsets);
  void buildOutputs(ImplicitLocOpBuilder &b);
  Value getBuffer(ImplicitLocOpBuilder &b, Value value);
  StringAttr getFunction(KernelOp kernel, OpBuilder &builder);
  MapAttr quantity(const Expr &e) { return MapAttr::get(context, 0, e); }

  func::FuncOp func;
  const Assumptions &symbols;
  MLIRContext *context;
  SmallVector<Storage> storages;
  DenseMap<Value, Place> places;
  DenseMap<Value, Value> parts;
  SmallVector<KernelOp> kernels;
  /// By kernel, the storages that it has only while it runs.
  SmallVector<SmallVector<unsigned, 2>> workspaces;
  /// Kernel text to the function that holds it.
  llvm::StringMap<StringAttr> functions;
};
} // namespace

//===----------------------------------------------------------------------===//
// Buffers of values
//===----------------------------------------------------------------------===//

void Planner::addStorage(Storage::Kind kind, Value value, unsigned step) {
  places[value] = {static_cast<unsigned>(storages.size()), Expr(0)};
  storages.push_back({kind, value, getBytes(value), step, step, {}});
}

void Planner::addWorkspace(KernelOp kernel, unsigned step) {
  SmallVector<unsigned, 2> &own = workspaces.emplace_back();
  std::optional<Workspace> workspace = getWorkspace(kernel);
  if (!workspace)
    return;
  for (auto [kind, bytes] :
       {std::pair{Storage::Kind::Slot, workspace->states},
        std::pair{Storage::Kind::Counters, workspace->counters}}) {
    own.push_back(storages.size());
    storages.push_back(
        {kind, kernel.getResult(0), symbols.simplify(bytes), step, step, {}});
  }
}

LogicalResult Planner::assignStorage() {
  Block &block = func.getBody().front();
  for (BlockArgument arg : block.getArguments())
    addStorage(Storage::Kind::Argument, arg, 0);
  for (Operation &op : block.without_terminator()) {
    if (isa<llir::ConstantOp>(op)) {
      addStorage(Storage::Kind::Data, op.getResult(0), 0);
      continue;
    }
    if (auto alias = dyn_cast<AliasOp>(op)) {
      Place place = places.at(alias.getOperand());
      Type element = cast<RankedTensorType>(alias.getType()).getElementType();
      Expr offset = alias.getOffset().getResults()[0] *
                    Expr(dtypeSize(*hlir::getDType(element)));
      places[alias.getResult()] = {place.storage, place.offset + offset};
      continue;
    }
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel)
      return op.emitOpError() << "is not a kernel, alias or constant";
    unsigned step = kernels.size();
    kernels.push_back(kernel);
    for (Value input : kernel.getInputs())
      storages[places.at(input).storage].last = step;
    for (Value result : kernel.getResults()) {
      if (kernel.getInPlace()) {
        // The map may grow, which moves its elements.
        Place place = places.at(kernel.getInputs()[0]);
        places[result] = place;
      } else {
        addStorage(Storage::Kind::Slot, result, step);
      }
    }
    addWorkspace(kernel, step);
  }
  return success();
}

/// Storage of a function result is the caller's.
LogicalResult Planner::assignResults() {
  Operation *terminator = func.getBody().front().getTerminator();
  DenseSet<unsigned> taken;
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    Place place = places.at(operand.get());
    Storage &storage = storages[place.storage];
    auto updates =
        func.getResultAttrOfType<IntegerAttr>(index, hlir::kUpdatesAttr);
    bool isUpdated =
        updates && storage.value == func.getArgument(updates.getInt());
    bool isWhole =
        place.offset.isConstant(0) &&
        symbols.equal(storage.bytes, getBytes(operand.get())) == true;
    if ((storage.kind != Storage::Kind::Slot && !isUpdated) || !isWhole ||
        !taken.insert(place.storage).second)
      return func.emitError()
             << "result " << index << " has no separate memory";
    if (!isUpdated)
      storage.kind = Storage::Kind::Result;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

Expr Planner::planArena(SmallVectorImpl<Expr> &offsets) {
  SmallVector<ArenaRequest> requests;
  for (const Storage &storage : storages)
    if (storage.kind == Storage::Kind::Slot)
      requests.push_back({storage.bytes, storage.first, storage.last});
  Expr arena = packArena(requests, symbols, offsets);
  tellArena(requests, arena);
  return arena;
}

/// The size of the arena beside its lower bound, and the buffers that determine
/// it.
void Planner::tellArena(ArrayRef<ArenaRequest> requests, const Expr &arena) {
  Reporter reporter(context, DEBUG_TYPE, func.getSymName());
  if (!reporter.isListening())
    return;
  ArenaPeak peak = findPeak(requests, symbols);
  double bytes = nominalValue(arena, symbols);
  auto number = [](double v) { return static_cast<int64_t>(v); };
  SmallVector<Reporter::Arg> args = {{"arena", arena.str()},
                                     {"bytes", number(bytes)},
                                     {"at least", number(peak.bytes)},
                                     {"buffers", uint64_t(requests.size())},
                                     {"peak step", peak.step}};
  if (bytes <= peak.bytes) {
    reporter.passed(func.getLoc(), "arena", args);
  } else {
    StringRef reason = haveConstantSizes(requests)
                           ? "first fit by decreasing size leaves gaps"
                           : "sizes known only at run time share whole slots";
    args.push_back({"reason", reason});
    reporter.missed(func.getLoc(), "arena", args);
  }
  constexpr double kLargeShare = 0.05;
  for (const Storage &storage : storages) {
    double own = nominalValue(storage.bytes, symbols);
    if (storage.kind != Storage::Kind::Slot || storage.first > peak.step ||
        storage.last < peak.step || own < kLargeShare * peak.bytes)
      continue;
    reporter.analysis(storage.value.getLoc(), "buffer",
                      {{"bytes", storage.bytes.str()},
                       {"made by step", storage.first},
                       {"last read by step", storage.last}});
  }
}

/// Number of kernels that are equal to another one.
void Planner::tellSharing() {
  Reporter reporter(context, DEBUG_TYPE, func.getSymName());
  if (reporter.isListening())
    reporter.analysis(func.getLoc(), "functions",
                      {{"kernels", uint64_t(kernels.size())},
                       {"functions", uint64_t(functions.size())}});
}

static StringAttr getName(DictionaryAttr attributes, StringRef prefix,
                          unsigned index, MLIRContext *context) {
  if (attributes)
    if (auto name = attributes.getAs<StringAttr>(hlir::kNameAttr))
      return name;
  return StringAttr::get(context, prefix + Twine(index));
}

void Planner::buildArguments(ImplicitLocOpBuilder &b) {
  for (BlockArgument arg : func.getArguments()) {
    DictionaryAttr attributes = func.getArgAttrDict(arg.getArgNumber());
    ArgumentKind kind = ArgumentKind::Input;
    DictionaryAttr source;
    if (attributes) {
      if (auto text = attributes.getAs<StringAttr>(hlir::kKindAttr))
        kind = symbolizeArgumentKind(text.getValue()).value_or(kind);
      source = attributes.getAs<DictionaryAttr>(hlir::kSourceAttr);
    }
    storages[places.at(arg).storage].buffer = ArgumentOp::create(
        b, kind, getName(attributes, "arg", arg.getArgNumber(), context),
        source, arg.getType());
  }
}

void Planner::buildBuffers(ImplicitLocOpBuilder &b, ArrayRef<Expr> offsets) {
  for (Storage &storage : storages) {
    switch (storage.kind) {
    case Storage::Kind::Argument:
      break;
    case Storage::Kind::Data:
      storage.buffer = DataOp::create(
          b, storage.value.getDefiningOp<llir::ConstantOp>().getValue());
      break;
    case Storage::Kind::Slot:
      storage.buffer =
          SlotOp::create(b, quantity(offsets.front()), quantity(storage.bytes));
      offsets = offsets.drop_front();
      break;
    case Storage::Kind::Counters:
      storage.buffer = CountersOp::create(b, quantity(storage.bytes));
      break;
    case Storage::Kind::Result:
      storage.buffer = ResultOp::create(b, storage.value.getType());
      break;
    }
  }
}

Value Planner::getBuffer(ImplicitLocOpBuilder &b, Value value) {
  Place place = places.at(value);
  Value buffer = storages[place.storage].buffer;
  if (place.offset.isConstant(0))
    return buffer;
  // One part for all uses.
  Value &part = parts[value];
  if (!part)
    part = PartOp::create(b, buffer, quantity(place.offset),
                          quantity(getBytes(value)));
  return part;
}

/// The function that holds a kernel equal to this one.
StringAttr Planner::getFunction(KernelOp kernel, OpBuilder &builder) {
  auto type = builder.getFunctionType(kernel.getInputs().getTypes(),
                                      kernel.getResultTypes());
  auto holder = func::FuncOp::create(kernel.getLoc(), "kernel", type);
  holder.setPrivate();
  if (Attribute attribute = func->getAttr(hlir::kSymbolsAttr))
    holder->setAttr(hlir::kSymbolsAttr, attribute);
  OpBuilder body = OpBuilder::atBlockEnd(holder.addEntryBlock());
  auto copy = cast<KernelOp>(body.clone(*kernel));
  copy.getInputsMutable().assign(holder.getArguments());
  func::ReturnOp::create(body, kernel.getLoc(), copy.getResults());
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Ignores printing flags of the command line: the text is compared.
  constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
  holder.print(stream, OpPrintingFlags()
                           .enableDebugInfo(false)
                           .elideLargeElementsAttrs(unlimited)
                           .elideLargeResourceString(unlimited)
                           .skipRegions(false)
                           .useLocalScope()
                           .assumeVerified());
  StringAttr &name = functions[text];
  if (name) {
    holder.erase();
    return name;
  }
  name = builder.getStringAttr("k" + Twine(functions.size() - 1));
  holder.setSymNameAttr(name);
  builder.insert(holder);
  return name;
}

/// The title of a kernel, and the file and line that it came from.
static std::string getLabel(KernelOp kernel) {
  std::string label = kernel.getTitle();
  kernel.getLoc()->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    StringRef name = file.getFilename().getValue();
    label += (" at " + name.substr(name.find_last_of('/') + 1) + ":" +
              Twine(file.getLine()))
                 .str();
    return WalkResult::interrupt();
  });
  return label;
}

void Planner::buildOutputs(ImplicitLocOpBuilder &b) {
  // Updates are counted over inputs and states, as the artifact lists them.
  SmallVector<int64_t> position;
  int64_t count = 0;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto kind = func.getArgAttrOfType<StringAttr>(i, hlir::kKindAttr);
    position.push_back(kind && kind.getValue() == "weight" ? -1 : count++);
  }
  Operation *terminator = func.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    auto updates =
        func.getResultAttrOfType<IntegerAttr>(index, hlir::kUpdatesAttr);
    IntegerAttr updated;
    if (updates)
      updated = b.getI64IntegerAttr(position[updates.getInt()]);
    OutputOp::create(
        b, getName(func.getResultAttrDict(index), "output_", index, context),
        getBuffer(b, operand.get()), operand.get().getType(), updated);
  }
}

void Planner::build(OpBuilder &builder) {
  SmallVector<Expr> offsets;
  Expr arena = planArena(offsets);
  auto table = func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr);
  if (!table)
    table = hlir::SymbolsAttr::get(context, {});
  auto schedule = ScheduleOp::create(builder, func.getLoc(), func.getSymName(),
                                     table, quantity(arena));
  hlir::setRequirements(schedule, hlir::getRequirements(func));
  ImplicitLocOpBuilder b(func.getLoc(), context);
  b.setInsertionPointToStart(&schedule.getBody().emplaceBlock());
  buildArguments(b);
  buildBuffers(b, offsets);
  for (auto [kernel, own] : llvm::zip_equal(kernels, workspaces)) {
    b.setLoc(kernel.getLoc());
    auto getBuffers = [&](ValueRange values) {
      return llvm::map_to_vector(
          values, [&](Value value) { return getBuffer(b, value); });
    };
    SmallVector<Value> inputs = getBuffers(kernel.getInputs());
    SmallVector<Value> outputs = getBuffers(kernel.getResults());
    SmallVector<Value> workspace = llvm::map_to_vector(
        own, [&](unsigned number) { return storages[number].buffer; });
    Cost cost = kernel.getCost();
    std::array<Expr, 2> amounts = {cost.bytesRead + cost.bytesWritten,
                                   cost.flops};
    StepOp::create(b, b.getStringAttr(getLabel(kernel)),
                   FlatSymbolRefAttr::get(getFunction(kernel, builder)), inputs,
                   outputs, workspace, MapAttr::get(context, 0, amounts),
                   LaunchAttrInterface());
  }
  b.setLoc(func.getLoc());
  buildOutputs(b);
  tellSharing();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class PlanMemory : public llir::impl::PlanMemoryPassBase<PlanMemory> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // A module that already has a schedule is left as it is.
    if (!module.getOps<ScheduleOp>().empty())
      return;
    for (auto func : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (func.isDeclaration())
        continue;
      if (!llvm::hasSingleElement(func.getBody())) {
        func.emitError() << "expects a function of one block";
        return signalPassFailure();
      }
      Assumptions symbols =
          hlir::getAssumptions(func.getBody().front().getTerminator());
      Planner planner(func, symbols);
      if (failed(planner.assignStorage()) || failed(planner.assignResults()))
        return signalPassFailure();
      OpBuilder builder(func);
      planner.build(builder);
      func.erase();
    }
  }
};
} // namespace
