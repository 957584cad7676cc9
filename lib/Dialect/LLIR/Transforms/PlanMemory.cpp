//===- PlanMemory.cpp - Memory planning -----------------------------------===//
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
// The operands of `llir.prepare` ops become a second schedule, which runs when
// weights are bound; a kernel that both schedules need is in both. A function
// and its variants share kernels and the `prepare` schedule.
//
// Tested by test/Dialect/LLIR/plan-memory.mlir, plan-memory-prepare.mlir and
// plan-memory-variants.mlir.
//
//===----------------------------------------------------------------------===//

#include "Arena.h"
#include "Requests.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Transforms/StateResults.h"
#include "luminal/Dialect/LLIR/Utils/KernelClasses.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "luminal/Dialect/LLIR/Utils/Variants.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

#include <unordered_map>

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
  enum class Kind { Argument, Data, Prepared, Slot, Counters, Result } kind;
  /// The argument, constant, prepared value or kernel result for which it was
  /// allocated; for a workspace, the first result of its kernel.
  Value value;
  Expr bytes;
  /// The live range, in steps.
  unsigned first = 0, last = 0;
  /// The buffer of the schedule.
  Value buffer;
};

/// A value's location.
struct Place {
  unsigned storage;
  Expr offset;
};

/// Maps the text of a kernel to its function; equal kernels share one.
using KernelFunctions = llvm::StringMap<StringAttr>;

class Planner {
public:
  Planner(func::FuncOp func, const Request &request, const Assumptions &symbols,
          KernelFunctions &functions, bool keepCalls)
      : func(func), request(request), symbols(symbols),
        context(func.getContext()), functions(functions), keepCalls(keepCalls) {
  }

  LogicalResult assignStorage();
  LogicalResult assignResults();
  /// Builds the schedule and the functions of the kernels.
  ScheduleOp build(OpBuilder &builder);

private:
  void addStorage(Storage::Kind kind, Value value, unsigned step);
  void placeResult(Value result, unsigned step);
  LogicalResult checkParts(ConcatOp concat) const;
  void addWorkspace(Operation *op, unsigned step);
  Expr planArena(SmallVectorImpl<Expr> &offsets);
  void tellArena(ArrayRef<ArenaRequest> requests, const Expr &arena);
  void tellSharing();
  void buildArguments(ImplicitLocOpBuilder &b);
  void buildBuffers(ImplicitLocOpBuilder &b, ArrayRef<Expr> offsets);
  void buildOutputs(ImplicitLocOpBuilder &b);
  Value getBuffer(ImplicitLocOpBuilder &b, Value value);
  StringAttr getKernelFunction(KernelOp kernel, OpBuilder &builder);
  StringAttr getFunction(Operation *op, OpBuilder &builder);
  void buildStep(ImplicitLocOpBuilder &b, Operation *op, ArrayRef<unsigned> own,
                 OpBuilder &builder);
  MapAttr quantity(const Expr &e) { return MapAttr::get(context, 0, e); }

  func::FuncOp func;
  const Request &request;
  const Assumptions &symbols;
  MLIRContext *context;
  SmallVector<Storage> storages;
  DenseMap<Value, Place> places;
  /// For each part of a concatenation, the concatenation's result and the
  /// part's offset in bytes.
  DenseMap<Value, std::pair<Value, Expr>> wholes;
  DenseMap<Value, Value> parts;
  /// Kernels and library calls.
  SmallVector<Operation *> steps;
  /// For each step, the storages that it needs only while it runs.
  SmallVector<SmallVector<unsigned, 2>> workspaces;
  KernelFunctions &functions;
  bool keepCalls;
  /// The functions of this function's kernels by class, so that an equal kernel
  /// need not be printed again.
  KernelClasses classes;
  DenseMap<unsigned, StringAttr> ownFunctions;
};
} // namespace

//===----------------------------------------------------------------------===//
// Buffers of values
//===----------------------------------------------------------------------===//

void Planner::addStorage(Storage::Kind kind, Value value, unsigned step) {
  places[value] = {static_cast<unsigned>(storages.size()), Expr(0)};
  storages.push_back(
      {kind, value, countBytes(value.getType()), step, step, {}});
}

/// Returns the value that is written in place of a part of a concatenation: the
/// part itself, or the value that it reshapes.
static Value getWritten(Value part) {
  auto alias = part.getDefiningOp<AliasOp>();
  while (alias && alias.getOffset().getResults()[0].isConstant(0) &&
         countBytes(part.getType()) ==
             countBytes(alias.getOperand().getType())) {
    part = alias.getOperand();
    alias = part.getDefiningOp<AliasOp>();
  }
  return part;
}

/// Assigns memory to the result of a step: separate memory, or a place in the
/// concatenation that it is a part of.
void Planner::placeResult(Value result, unsigned step) {
  auto it = wholes.find(result);
  if (it == wholes.end())
    return addStorage(Storage::Kind::Slot, result, step);
  auto [whole, offset] = it->second;
  if (!places.contains(whole))
    placeResult(whole, step);
  Place place = places.at(whole);
  storages[place.storage].last = step;
  places[result] = {place.storage, place.offset + offset};
}

/// Checks that each part is written directly to the result's memory.
LogicalResult Planner::checkParts(ConcatOp concat) const {
  DenseSet<Value> written;
  for (auto [index, named] : llvm::enumerate(concat.getParts())) {
    Value part = getWritten(named);
    auto kernel = part.getDefiningOp<KernelOp>();
    bool isWritten = (kernel && !kernel.getInPlace()) ||
                     part.getDefiningOp<LibraryOpInterface>() ||
                     part.getDefiningOp<ConcatOp>();
    bool isHere = wholes.at(part).first == concat.getResult() &&
                  written.insert(part).second;
    if (!isWritten || !isHere)
      return concat.emitOpError()
             << "cannot have part " << index << " written in its memory";
  }
  return success();
}

void Planner::addWorkspace(Operation *op, unsigned step) {
  SmallVector<unsigned, 2> &own = workspaces.emplace_back();
  auto add = [&](Storage::Kind kind, const Expr &bytes) {
    own.push_back(storages.size());
    storages.push_back(
        {kind, op->getResult(0), symbols.simplify(bytes), step, step, {}});
  };
  if (auto library = dyn_cast<LibraryOpInterface>(op)) {
    if (int64_t bytes = library.getWorkspaceBytes())
      add(Storage::Kind::Slot, bytes);
    return;
  }
  std::optional<Workspace> workspace =
      getWorkspace(cast<KernelOp>(op), symbols.getSymbols());
  if (!workspace)
    return;
  add(Storage::Kind::Slot, workspace->states);
  add(Storage::Kind::Counters, workspace->counters);
}

LogicalResult Planner::assignStorage() {
  for (BlockArgument arg : request.arguments)
    addStorage(Storage::Kind::Argument, arg, 0);
  for (Operation *op : request.ops)
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      Expr offset(0);
      for (Value part : concat.getParts()) {
        wholes[getWritten(part)] = {concat.getResult(), offset};
        offset = offset + countBytes(part.getType());
      }
    }
  DenseMap<Value, Value> states;
  for (const Output &output : request.outputs)
    if (output.isInState)
      states[getFirstMemory(output.value)] = func.getArgument(*output.updates);
  for (Operation *op : request.ops) {
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      if (failed(checkParts(concat)))
        return failure();
      continue;
    }
    if (isa<llir::ConstantOp>(op)) {
      addStorage(Storage::Kind::Data, op->getResult(0), 0);
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
    if (auto prepare = dyn_cast<PrepareOp>(op)) {
      if (request.isPrepare) {
        Place place = places.at(prepare.getOperand());
        places[prepare.getResult()] = place;
      } else {
        addStorage(Storage::Kind::Prepared, prepare.getResult(), 0);
      }
      continue;
    }
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel && !isa<LibraryOpInterface>(op))
      return op->emitOpError() << "is not a kernel, library call, alias, "
                               << "concat or constant";
    if (auto library = dyn_cast<LibraryOpInterface>(op);
        library && failed(library.checkLibrary()))
      return failure();
    unsigned step = steps.size();
    steps.push_back(op);
    for (Value input : op->getOperands())
      storages[places.at(input).storage].last = step;
    for (Value result : op->getResults()) {
      Value other = kernel && kernel.getInPlace() ? kernel.getInputs()[0]
                                                  : states.lookup(result);
      if (other) {
        // Copied, because inserting into the map may move its elements.
        Place place = places.at(other);
        places[result] = place;
      } else {
        placeResult(result, step);
      }
    }
    addWorkspace(op, step);
  }
  return success();
}

/// Outputs are stored in the caller's memory.
LogicalResult Planner::assignResults() {
  DenseSet<unsigned> taken;
  for (auto [index, output] : llvm::enumerate(request.outputs)) {
    Place place = places.at(output.value);
    Storage &storage = storages[place.storage];
    bool isUpdated =
        output.updates && storage.value == func.getArgument(*output.updates);
    bool isWhole = place.offset.isConstant(0) &&
                   symbols.equal(storage.bytes,
                                 countBytes(output.value.getType())) == true;
    if ((storage.kind != Storage::Kind::Slot && !isUpdated) || !isWhole ||
        !taken.insert(place.storage).second) {
      if (request.isPrepare)
        return emitError(output.value.getLoc())
               << "a prepared value has no separate memory";
      return func.emitError()
             << "result " << index << " has no separate memory";
    }
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

/// Reports the size of the arena, its lower bound, and the buffers that
/// determine it.
void Planner::tellArena(ArrayRef<ArenaRequest> requests, const Expr &arena) {
  Reporter reporter(context, DEBUG_TYPE, request.name);
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
                           ? "every order that was tried leaves gaps"
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

/// Reports the number of kernels that are equal to another one.
void Planner::tellSharing() {
  Reporter reporter(context, DEBUG_TYPE, request.name);
  if (reporter.isListening())
    reporter.analysis(
        func.getLoc(), "functions",
        {{"kernels", uint64_t(llvm::count_if(steps, llvm::IsaPred<KernelOp>))},
         {"functions", uint64_t(functions.size())}});
}

void Planner::buildArguments(ImplicitLocOpBuilder &b) {
  for (BlockArgument arg : request.arguments) {
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
    case Storage::Kind::Prepared:
      storage.buffer = PreparedOp::create(
          b,
          getPreparedName(context,
                          request.prepared.at(storage.value.getDefiningOp())),
          storage.value.getType());
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
  // All uses share one part.
  Value &part = parts[value];
  if (!part)
    part = PartOp::create(b, buffer, quantity(place.offset),
                          quantity(countBytes(value.getType())));
  return part;
}

StringAttr Planner::getKernelFunction(KernelOp kernel, OpBuilder &builder) {
  StringAttr &own = ownFunctions[classes.add(kernel)];
  if (!own)
    own = getFunction(kernel, builder);
  return own;
}

/// Returns the function that holds a kernel or call equal to this one.
StringAttr Planner::getFunction(Operation *op, OpBuilder &builder) {
  auto type =
      builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
  auto holder = func::FuncOp::create(op->getLoc(), "kernel", type);
  holder.setPrivate();
  // Kernels without symbols are equal for any ranges of symbols.
  if (Attribute attribute = func->getAttr(hlir::kSymbolsAttr);
      attribute && usesSymbols(op))
    holder->setAttr(hlir::kSymbolsAttr, attribute);
  OpBuilder body = OpBuilder::atBlockEnd(holder.addEntryBlock());
  Operation *copy = body.clone(*op);
  copy->setOperands(holder.getArguments());
  func::ReturnOp::create(body, op->getLoc(), copy->getResults());
  StringAttr &name = functions[getKernelText(holder)];
  if (name) {
    holder.erase();
    return name;
  }
  name = builder.getStringAttr("k" + Twine(functions.size() - 1));
  holder.setSymNameAttr(name);
  builder.insert(holder);
  return name;
}

/// Returns the title of a step, and the file and line that it came from.
static std::string getLabel(Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op);
  std::string label =
      kernel ? kernel.getTitle() : op->getName().stripDialect().str();
  op->getLoc()->walk([&](Location part) {
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

/// Returns the locations of the ops that a step's kernel computes, in order,
/// without constants and indices, which are the same in all parts of a program.
static Location getOrigins(Operation *op) {
  SmallVector<Location> parts;
  DenseSet<Value> computed;
  op->walk([&](Operation *part) {
    bool reads = llvm::any_of(part->getOperands(), [&](Value operand) {
      return isa<BlockArgument>(operand) || computed.contains(operand);
    });
    if (part != op && !reads)
      return;
    parts.push_back(part->getLoc());
    computed.insert(part->result_begin(), part->result_end());
  });
  return FusedLoc::get(op->getContext(), parts);
}

void Planner::buildOutputs(ImplicitLocOpBuilder &b) {
  // Updates are counted over inputs and states, as the artifact lists them.
  SmallVector<int64_t> position;
  int64_t count = 0;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto kind = func.getArgAttrOfType<StringAttr>(i, hlir::kKindAttr);
    position.push_back(kind && kind.getValue() == "weight" ? -1 : count++);
  }
  for (const Output &output : request.outputs) {
    IntegerAttr updates;
    if (output.updates)
      updates = b.getI64IntegerAttr(position[*output.updates]);
    auto op = OutputOp::create(b, output.name, getBuffer(b, output.value),
                               output.value.getType(), updates);
    if (output.assertion)
      op->setAttr(hlir::kAssertionAttr, output.assertion);
  }
}

void Planner::buildStep(ImplicitLocOpBuilder &b, Operation *op,
                        ArrayRef<unsigned> own, OpBuilder &builder) {
  b.setLoc(getOrigins(op));
  auto getBuffers = [&](ValueRange values) {
    return llvm::map_to_vector(
        values, [&](Value value) { return getBuffer(b, value); });
  };
  SmallVector<Value> inputs = getBuffers(op->getOperands());
  SmallVector<Value> outputs = getBuffers(op->getResults());
  SmallVector<Value> workspace = llvm::map_to_vector(
      own, [&](unsigned number) { return storages[number].buffer; });
  Cost cost = cast<CostOpInterface>(op).getCost();
  std::array<Expr, 2> amounts = {cost.bytesRead + cost.bytesWritten,
                                 cost.flops};
  FlatSymbolRefAttr callee;
  LaunchAttrInterface launch;
  if (auto kernel = dyn_cast<KernelOp>(op))
    callee = FlatSymbolRefAttr::get(getKernelFunction(kernel, builder));
  else
    launch = cast<LibraryOpInterface>(op).getLaunch();
  auto step =
      StepOp::create(b, b.getStringAttr(getLabel(op)), callee, inputs, outputs,
                     workspace, MapAttr::get(context, 0, amounts), launch);
  if (!callee && keepCalls)
    step->setAttr(kComputesAttr,
                  FlatSymbolRefAttr::get(getFunction(op, builder)));
}

ScheduleOp Planner::build(OpBuilder &builder) {
  SmallVector<Expr> offsets;
  Expr arena = planArena(offsets);
  auto table = func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr);
  if (!table)
    table = hlir::SymbolsAttr::get(context, {});
  auto schedule = ScheduleOp::create(
      builder, func.getLoc(), builder.getStringAttr(request.name), table,
      quantity(arena), /*prepare=*/FlatSymbolRefAttr());
  if (!request.isPrepare) {
    hlir::setRequirements(schedule, hlir::getRequirements(func));
    hlir::setIntegers(schedule, hlir::getIntegers(func));
  }
  ImplicitLocOpBuilder b(func.getLoc(), context);
  b.setInsertionPointToStart(&schedule.getBody().emplaceBlock());
  buildArguments(b);
  buildBuffers(b, offsets);
  for (auto [op, own] : llvm::zip_equal(steps, workspaces))
    buildStep(b, op, own, builder);
  b.setLoc(func.getLoc());
  buildOutputs(b);
  tellSharing();
  return schedule;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class PlanMemory : public llir::impl::PlanMemoryPassBase<PlanMemory> {
public:
  using PlanMemoryPassBase::PlanMemoryPassBase;
  void runOnOperation() override;

private:
  LogicalResult plan(SmallVector<func::FuncOp> funcs,
                     KernelFunctions &functions);
};
} // namespace

/// Plans a function together with its variants.
LogicalResult PlanMemory::plan(SmallVector<func::FuncOp> funcs,
                               KernelFunctions &functions) {
  func::FuncOp first = funcs.front();
  for (func::FuncOp func : funcs) {
    if (!llvm::hasSingleElement(func.getBody()))
      return func.emitError() << "expects a function of one block";
    if (func.getNumArguments() != first.getNumArguments() ||
        func.getArgAttrsAttr() != first.getArgAttrsAttr())
      return func.emitError() << "is a variant of '" << first.getSymName()
                              << "', but has other arguments";
  }
  SmallVector<Request> programs = llvm::map_to_vector(funcs, getProgram);
  OwningOpRef<func::FuncOp> joined = joinPreparations(funcs, programs);
  FailureOr<Request> preparation = getPreparation(*joined);
  if (failed(preparation))
    return failure();
  OpBuilder builder(first);
  auto planOne = [&](func::FuncOp func,
                     const Request &request) -> FailureOr<ScheduleOp> {
    Assumptions symbols =
        hlir::getAssumptions(func.getBody().front().getTerminator());
    Planner planner(func, request, symbols, functions, keepCalls);
    if (failed(planner.assignStorage()) || failed(planner.assignResults()))
      return failure();
    return planner.build(builder);
  };
  SmallVector<ScheduleOp> schedules;
  for (auto [func, program] : llvm::zip_equal(funcs, programs)) {
    FailureOr<ScheduleOp> schedule = planOne(func, program);
    if (failed(schedule))
      return failure();
    schedules.push_back(*schedule);
  }
  if (!preparation->outputs.empty()) {
    FailureOr<ScheduleOp> second = planOne(*joined, *preparation);
    if (failed(second))
      return failure();
    for (auto [schedule, program] : llvm::zip_equal(schedules, programs))
      if (!program.prepared.empty())
        schedule.setPrepareAttr(FlatSymbolRefAttr::get(*second));
    schedules.front().setPrepareAttr(FlatSymbolRefAttr::get(*second));
  }
  if (Attribute variants = first->getAttr(kVariantsAttr))
    schedules.front()->setAttr(kVariantsAttr, variants);
  for (func::FuncOp func : funcs)
    func.erase();
  return success();
}

void PlanMemory::runOnOperation() {
  ModuleOp module = getOperation();
  // A module that already has a schedule is not changed.
  if (!module.getOps<ScheduleOp>().empty())
    return;
  // The programs of the module, each with its variants.
  SmallVector<SmallVector<func::FuncOp>> groups;
  DenseSet<Operation *> variants;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isDeclaration())
      continue;
    SmallVector<func::FuncOp> &group = groups.emplace_back(1, func);
    FailureOr<SmallVector<Operation *>> own = getVariants(func);
    if (failed(own))
      return signalPassFailure();
    for (Operation *variant : *own) {
      group.push_back(cast<func::FuncOp>(variant));
      if (!variants.insert(variant).second) {
        variant->emitError() << "is a variant of two programs";
        return signalPassFailure();
      }
    }
  }
  KernelFunctions functions;
  for (SmallVector<func::FuncOp> &group : groups)
    if (!variants.contains(group.front()) &&
        failed(plan(std::move(group), functions)))
      return signalPassFailure();
}
