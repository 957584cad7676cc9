//===- ManifestBuilder.cpp - Builds the manifest of a schedule ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "luminal/Dialect/HLIR/Utils/ModuleLocations.h"
#include "luminal/Dialect/LLIR/Utils/Variants.h"
#include "luminal/Support/Version.h"
#include "luminal/Target/Artifact.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::runtime;

namespace {
/// Collects the contents of constants.bin; equal constants are stored once.
struct Constants {
  explicit Constants(std::string &bytes) : bytes(bytes) {}

  std::string &bytes;
  DenseMap<Attribute, uint64_t> offsets;
};

class ManifestBuilder {
public:
  /// Appends data to `constants`. If `program` is given, the schedule prepares
  /// the weights of that program.
  ManifestBuilder(llir::ScheduleOp schedule, Constants &constants,
                  const Manifest *program = nullptr)
      : schedule(schedule), constants(constants), program(program) {}

  FailureOr<Manifest> build(const TargetSpec &target);
  /// Builds the manifest of a variant of `whole`.
  FailureOr<Manifest> buildVariant(const Manifest &whole);

private:
  LogicalResult add(Operation *op);
  LogicalResult addArgument(llir::ArgumentOp op);
  LogicalResult addWeightOfProgram(llir::ArgumentOp op);
  LogicalResult addData(llir::DataOp op);
  LogicalResult addPrepared(llir::PreparedOp op);
  LogicalResult addPrepareSchedule();
  LogicalResult findPrepared();
  LogicalResult addEntries(const TargetSpec &target);
  LogicalResult addVariants();
  LogicalResult addStep(llir::StepOp op);
  uint32_t addBuffer(Value value, BufferSpec spec);
  void addSymbols();
  LogicalResult checkSymbols();

  llir::ScheduleOp schedule;
  Constants &constants;
  const Manifest *program;
  Manifest manifest;
  DenseMap<Value, uint32_t> buffers;
  /// Buffers of kind Prepared. Their outputs are resolved at the end.
  SmallVector<std::pair<llir::PreparedOp, uint32_t>> prepared;
};
} // namespace

static Expr getQuantity(hlir::MapAttr map) { return map.getResults()[0]; }

static TensorSpec getTensor(StringRef name, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  TensorSpec spec;
  spec.name = name.str();
  spec.dtype = *hlir::getDType(tensor.getElementType());
  SmallVector<Expr> extents = hlir::getExtents(tensor);
  spec.shape.assign(extents.begin(), extents.end());
  return spec;
}

uint32_t ManifestBuilder::addBuffer(Value value, BufferSpec spec) {
  uint32_t index = manifest.buffers.size();
  manifest.buffers.push_back(std::move(spec));
  buffers[value] = index;
  return index;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Adds an input, state or weight, and its buffer.
LogicalResult ManifestBuilder::addArgument(llir::ArgumentOp op) {
  if (program)
    return addWeightOfProgram(op);
  TensorSpec tensor = getTensor(op.getName(), op.getType());
  bool isWeight = op.getKind() == llir::ArgumentKind::Weight;
  BufferSpec spec;
  spec.kind = isWeight ? BufferSpec::Kind::Weight : BufferSpec::Kind::Input;
  // A weight that only `prepare` reads needs no buffer of this program.
  bool isRead = !isWeight || !op.getBuffer().use_empty();
  uint32_t buffer = isRead ? addBuffer(op.getBuffer(), spec) : 0;
  std::optional<DictionaryAttr> source = op.getSource();
  std::optional<uint32_t> weightIndex;
  if (isWeight || source) {
    WeightSpec weight;
    static_cast<TensorSpec &>(weight) = tensor;
    std::optional<int64_t> elements = product(tensor.shape).asConstant();
    if (!elements)
      return op.emitOpError() << "of kind weight has a dynamic shape";
    weight.bytes = *elements * dtypeSize(tensor.dtype);
    if (isWeight && isRead)
      weight.buffer = buffer;
    if (source) {
      auto member = source->getAs<StringAttr>("member");
      auto offset = source->getAs<IntegerAttr>("offset");
      auto bytes = source->getAs<IntegerAttr>("bytes");
      if (!member || !offset || !bytes || offset.getInt() < 0 ||
          bytes.getInt() != static_cast<int64_t>(weight.bytes))
        return op.emitOpError()
               << "expects a source {member, offset, bytes = " << weight.bytes
               << "}, found " << *source;
      weight.member = member.str();
      weight.offset = offset.getInt();
    }
    weightIndex = manifest.weights.size();
    manifest.weights.push_back(std::move(weight));
  }
  if (isWeight)
    return success();
  InputSpec input;
  static_cast<TensorSpec &>(input) = std::move(tensor);
  input.buffer = buffer;
  input.state = op.getKind() == llir::ArgumentKind::State;
  if (source && !input.state)
    return op.emitOpError() << "of kind input has a source";
  input.initial = weightIndex;
  manifest.inputs.push_back(std::move(input));
  return success();
}

/// Adds a weight of a nested schedule, which the program must list too.
LogicalResult ManifestBuilder::addWeightOfProgram(llir::ArgumentOp op) {
  auto weight = llvm::find_if(manifest.weights, [&](const WeightSpec &w) {
    return w.name == op.getName().str();
  });
  if (op.getKind() != llir::ArgumentKind::Weight ||
      weight == manifest.weights.end() || weight->buffer)
    return op.emitOpError() << "is not a weight of the program";
  BufferSpec spec;
  spec.kind = BufferSpec::Kind::Weight;
  weight->buffer = addBuffer(op.getBuffer(), spec);
  return success();
}

LogicalResult ManifestBuilder::addPrepared(llir::PreparedOp op) {
  if (program)
    return op.emitOpError() << "is in a schedule that prepares weights";
  BufferSpec spec;
  spec.kind = BufferSpec::Kind::Prepared;
  prepared.push_back({op, addBuffer(op.getBuffer(), spec)});
  return success();
}

/// Builds the schedule that prepares weights, when all weights are known.
LogicalResult ManifestBuilder::addPrepareSchedule() {
  if (std::optional<StringRef> name = schedule.getPrepare()) {
    llir::ScheduleOp second = schedule.getPrepareSchedule();
    if (!second || second == schedule)
      return schedule.emitOpError()
             << "is prepared by " << *name << ", which is not a schedule";
    FailureOr<Manifest> built =
        ManifestBuilder(second, constants, &manifest).build(manifest.target);
    if (failed(built))
      return failure();
    manifest.modules.insert(built->modules.begin(), built->modules.end());
    manifest.prepare = std::make_shared<const Manifest>(std::move(*built));
  }
  return findPrepared();
}

/// Resolves which output of that schedule each Prepared buffer is.
LogicalResult ManifestBuilder::findPrepared() {
  for (auto [op, buffer] : prepared) {
    ArrayRef<OutputSpec> outputs;
    if (manifest.prepare)
      outputs = manifest.prepare->outputs;
    TensorSpec tensor = getTensor(op.getName(), op.getType());
    auto *output = llvm::find_if(outputs, [&](const OutputSpec &o) {
      return o.name == tensor.name && typeText(o) == typeText(tensor);
    });
    if (output == outputs.end())
      return op.emitOpError() << "has no output of its name and type in the "
                                 "schedule that prepares weights";
    manifest.buffers[buffer].of = output - outputs.begin();
  }
  return success();
}

/// Appends the elements in their memory layout: little endian, row-major, i1 as
/// one byte.
static LogicalResult appendElements(llir::DataOp op, std::string &bytes) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return op.emitOpError() << "expects dense elements";
  Type type = elements.getElementType();
  auto append = [&](const APInt &value) {
    uint64_t bits = value.getZExtValue();
    unsigned size = dtypeSize(*hlir::getDType(type));
    for (unsigned i = 0; i < size; ++i)
      bytes.push_back(static_cast<char>(bits >> (8 * i)));
  };
  if (isa<FloatType>(type)) {
    for (const APFloat &value : elements.getValues<APFloat>())
      append(value.bitcastToAPInt());
  } else {
    for (const APInt &value : elements.getValues<APInt>())
      append(value);
  }
  return success();
}

/// Adds a constant; equal data is stored once.
LogicalResult ManifestBuilder::addData(llir::DataOp op) {
  std::string &bytes = constants.bytes;
  BufferSpec spec;
  spec.kind = BufferSpec::Kind::Constant;
  auto [known, isNew] = constants.offsets.try_emplace(
      op.getValue(), llvm::alignTo(bytes.size(), kAlignment));
  if (isNew) {
    bytes.resize(known->second);
    if (failed(appendElements(op, bytes)))
      return failure();
  }
  spec.offset = Expr(known->second);
  spec.bytes = llir::countBytes(op.getValue().getType());
  addBuffer(op.getBuffer(), spec);
  return success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Adds a step with its buffers and launch.
LogicalResult ManifestBuilder::addStep(llir::StepOp op) {
  std::optional<llir::LaunchAttrInterface> launch = op.getLaunch();
  if (!launch)
    return op.emitOpError()
           << "calls " << *op.getCallee() << ", which has no code";
  if (launch->getTargetName() != manifest.target.kind)
    return op.emitOpError() << "has a launch for " << launch->getTargetName()
                            << ", the artifact is "
                            << "for " << manifest.target.kind;
  StepSpec step;
  step.kernel = op.getCallee().value_or("").str();
  step.name = op.getLabel().str();
  walkNodes(op.getLoc(), [&](StringRef node, StringRef module) {
    if (!llvm::is_contained(step.nodes, node))
      step.nodes.push_back(node.str());
    if (!module.empty())
      manifest.modules.try_emplace(node.str(), module.str());
  });
  for (Value buffer : op.getInputs())
    step.buffers.push_back(buffers.at(buffer));
  for (Value buffer : op.getOutputs())
    step.buffers.push_back(buffers.at(buffer));
  for (Value buffer : op.getWorkspace())
    step.buffers.push_back(buffers.at(buffer));
  step.results = op.getOutputs().size();
  step.workspace = op.getWorkspace().size();
  step.launch = toLaunchSpec(*launch);
  step.traffic = op.getCost().getResults()[0];
  step.flops = op.getCost().getResults()[1];
  manifest.steps.push_back(std::move(step));
  return success();
}

LogicalResult ManifestBuilder::add(Operation *op) {
  using Kind = BufferSpec::Kind;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](llir::ArgumentOp op) { return addArgument(op); })
      .Case([&](llir::DataOp op) { return addData(op); })
      .Case([&](llir::PreparedOp op) { return addPrepared(op); })
      .Case([&](llir::SlotOp op) {
        addBuffer(op.getBuffer(), {Kind::Arena, getQuantity(op.getOffset()),
                                   getQuantity(op.getBytes()), 0});
        return success();
      })
      .Case([&](llir::CountersOp op) {
        addBuffer(op.getBuffer(),
                  {Kind::Counters, 0, getQuantity(op.getBytes()), 0});
        return success();
      })
      .Case([&](llir::ResultOp op) {
        BufferSpec spec;
        spec.kind = Kind::Output;
        addBuffer(op.getBuffer(), spec);
        return success();
      })
      .Case([&](llir::PartOp op) {
        addBuffer(op.getBuffer(),
                  {Kind::Alias, getQuantity(op.getOffset()),
                   getQuantity(op.getBytes()), buffers.at(op.getOf())});
        return success();
      })
      .Case([&](llir::StepOp op) { return addStep(op); })
      .Case([&](llir::OutputOp op) {
        OutputSpec output;
        static_cast<TensorSpec &>(output) =
            getTensor(op.getName(), op.getType());
        output.buffer = buffers.at(op.getBuffer());
        if (std::optional<uint64_t> updates = op.getUpdates())
          output.updates = *updates;
        if (auto assertion =
                op->getAttrOfType<StringAttr>(hlir::kAssertionAttr))
          output.assertion = assertion.str();
        manifest.outputs.push_back(std::move(output));
        return success();
      })
      .Default([](Operation *op) {
        return op->emitOpError() << "is not an entry of an artifact";
      });
}

void ManifestBuilder::addSymbols() {
  for (const hlir::SymbolEntry &entry : schedule.getSymbols().getEntries())
    manifest.symbols.push_back({entry.name.str(), entry.range});
  llvm::append_range(manifest.integers, hlir::getIntegers(schedule));
}

/// Rejects a program with symbols that the runtime cannot solve.
LogicalResult ManifestBuilder::checkSymbols() {
  std::vector<Expr> extents;
  for (const InputSpec &input : manifest.inputs)
    llvm::append_range(extents, input.shape);
  for (const IntegerInput &integer : manifest.integers)
    extents.push_back(integer.value);
  std::vector<bool> found(manifest.symbols.size());
  for (const SymbolSource &source : planSymbols(manifest.symbols, extents))
    found[source.symbol] = true;
  for (auto [i, symbol] : llvm::enumerate(manifest.symbols))
    if (!found[i])
      return schedule.emitOpError() << describeUnsolved(symbol.name, extents);
  return success();
}

LogicalResult ManifestBuilder::addEntries(const TargetSpec &target) {
  manifest.producer = LUMINAL_VERSION;
  manifest.target = target;
  for (Operation &op : schedule.getBody().front())
    if (failed(add(&op)))
      return failure();
  manifest.arenaBytes = getQuantity(schedule.getArena());
  return success();
}

FailureOr<Manifest> ManifestBuilder::build(const TargetSpec &target) {
  // No size of a schedule that prepares weights depends on a symbol.
  if (program) {
    manifest.weights = program->weights;
    for (WeightSpec &weight : manifest.weights)
      weight.buffer.reset();
    if (failed(addEntries(target)))
      return failure();
    return std::move(manifest);
  }
  addSymbols();
  if (failed(addEntries(target)))
    return failure();
  for (const Requirement &requirement : hlir::getRequirements(schedule))
    manifest.requirements.push_back(requirement);
  if (failed(checkSymbols()) || failed(addPrepareSchedule()) ||
      failed(addVariants()))
    return failure();
  return std::move(manifest);
}

/// Whether a tensor of a variant equals that of the program, with symbols that
/// have a single value in the variant replaced by that value.
static bool isSameAt(const TensorSpec &narrow, const TensorSpec &whole,
                     const std::vector<SymbolSpec> &symbols) {
  auto number = [&](const Expr &leaf) -> std::optional<Expr> {
    for (const SymbolSpec &symbol : symbols)
      if (symbol.range.hi == symbol.range.lo &&
          leaf.asSymbol() == std::string_view(symbol.name))
        return Expr(symbol.range.lo);
    return std::nullopt;
  };
  return narrow.name == whole.name && narrow.dtype == whole.dtype &&
         narrow.shape.size() == whole.shape.size() &&
         llvm::all_of(llvm::zip_equal(narrow.shape, whole.shape),
                      [&](const auto &extents) {
                        const auto &[a, b] = extents;
                        return a == b ||
                               a.substitute(number) == b.substitute(number);
                      });
}

/// Copies the types from `whole` to the specs of a variant, and keeps their
/// buffers. False if the specs do not match.
template <typename Spec>
static bool takeTypes(std::vector<Spec> &specs, const std::vector<Spec> &whole,
                      const std::vector<SymbolSpec> &symbols) {
  if (specs.size() != whole.size())
    return false;
  for (auto [spec, same] : llvm::zip_equal(specs, whole)) {
    if (!isSameAt(spec, same, symbols))
      return false;
    spec.shape = same.shape;
  }
  return true;
}

FailureOr<Manifest> ManifestBuilder::buildVariant(const Manifest &whole) {
  addSymbols();
  if (failed(addEntries(whole.target)))
    return failure();
  for (const Requirement &requirement : hlir::getRequirements(schedule))
    manifest.requirements.push_back(requirement);
  if (!takeTypes(manifest.inputs, whole.inputs, manifest.symbols) ||
      !takeTypes(manifest.outputs, whole.outputs, manifest.symbols) ||
      !takeTypes(manifest.weights, whole.weights, manifest.symbols))
    return schedule.emitOpError()
           << "has other arguments or outputs than its program";
  manifest.prepare = whole.prepare;
  if (failed(findPrepared()))
    return failure();
  return std::move(manifest);
}

/// Builds the manifests of the schedule's variants.
LogicalResult ManifestBuilder::addVariants() {
  FailureOr<SmallVector<Operation *>> variants = llir::getVariants(schedule);
  if (failed(variants))
    return failure();
  for (Operation *op : *variants) {
    auto variant = cast<llir::ScheduleOp>(op);
    if (variant.getPrepare() && variant.getPrepare() != schedule.getPrepare())
      return variant.emitOpError()
             << "has another 'prepare' schedule than its program";
    FailureOr<Manifest> built =
        ManifestBuilder(variant, constants).buildVariant(manifest);
    if (failed(built))
      return failure();
    manifest.modules.insert(built->modules.begin(), built->modules.end());
    manifest.variants.push_back(
        std::make_shared<const Manifest>(std::move(*built)));
  }
  return success();
}

SmallVector<llir::ScheduleOp> luminal::getPrograms(ModuleOp module) {
  SmallVector<llir::ScheduleOp> programs(module.getOps<llir::ScheduleOp>());
  llvm::SmallDenseSet<Operation *> others;
  for (llir::ScheduleOp schedule : programs)
    if (llir::ScheduleOp prepare = schedule.getPrepareSchedule();
        prepare && prepare != schedule)
      others.insert(prepare);
  // Names that do not exist are reported when the artifact is built.
  for (llir::ScheduleOp schedule : programs)
    if (auto names = schedule->getAttrOfType<ArrayAttr>(llir::kVariantsAttr))
      for (auto name : names.getAsRange<FlatSymbolRefAttr>())
        others.insert(SymbolTable::lookupSymbolIn(module, name.getAttr()));
  llvm::erase_if(programs, [&](llir::ScheduleOp schedule) {
    return others.contains(schedule);
  });
  return programs;
}

FailureOr<Manifest> luminal::buildManifest(llir::ScheduleOp schedule,
                                           const TargetSpec &target,
                                           std::string &constants) {
  Constants all(constants);
  return ManifestBuilder(schedule, all).build(target);
}
