//===- Importer.cpp - Translates nodes to HLIR ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Importer.h"
#include "Aten/Custom.h"
#include "Aten/Helpers.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "luminal/Dialect/HLIR/Utils/DeadOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

Importer::Importer(MLIRContext *context, const Archive &archive,
                   ExportedProgram program, const PT2ImportOptions &options)
    : context(context), archive(archive), program(std::move(program)),
      options(options), builder(context),
      fileLoc(FileLineColLoc::get(context, archive.getName(), 0, 0)) {}

LogicalResult Importer::fail(Location loc, const Twine &message) {
  return emitError(loc) << message;
}

Location Importer::getLoc(const Node &node) {
  Location loc = fileLoc;
  if (node.line)
    loc = FileLineColLoc::get(context, node.file, node.line, 0);
  if (auto it = archive.getPlaces().find(node.name);
      it != archive.getPlaces().end()) {
    auto [file, number] = StringRef(it->second).rsplit(':');
    unsigned line = 0;
    if (!number.getAsInteger(10, line))
      loc = FileLineColLoc::get(context, file, line, 0);
  }
  StringRef module = node.module;
  if (auto it = archive.getModules().find(node.name);
      module.empty() && it != archive.getModules().end())
    module = it->second;
  if (!module.empty())
    loc = locateInModule(loc, module);
  return NameLoc::get(builder.getStringAttr(node.name), loc);
}

const TensorMeta *Importer::getMeta(const std::string &name) const {
  auto it = program.tensors.find(name);
  return it == program.tensors.end() ? nullptr : &it->second;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

unsigned Importer::newMemory(Value value) {
  Memory memory;
  memory.value = value;
  memories.push_back(memory);
  return memories.size() - 1;
}

void Importer::define(const std::string &name, Value value, int argument) {
  GraphTensor tensor;
  tensor.memory = newMemory(value);
  memories.back().argument = argument;
  tensor.extents = getExtents(value);
  for (unsigned i = 0; i < tensor.extents.size(); ++i)
    tensor.map.push_back(Expr::dim(i));
  tensor.value = value;
  tensors[name] = std::move(tensor);
}

Value Importer::read(GraphTensor &tensor) {
  const Memory &memory = memories[tensor.memory];
  if (tensor.version != memory.version) {
    tensor.value =
        tensor.whole ? memory.value
                     : composer->view(memory.value, tensor.extents, tensor.map);
    tensor.version = memory.version;
  }
  return tensor.value;
}

/// Whether autocast converts this type to another float type.
static bool isAutocast(Type element) {
  return element.isF16() || element.isBF16() || element.isF32();
}

Value Importer::read(const std::string &name) {
  Value value = read(tensors.find(name)->second);
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return operandType && isAutocast(element) ? composer->cast(value, operandType)
                                            : value;
}

LogicalResult Importer::write(const std::string &name, Value value,
                              std::string &reason, bool last) {
  GraphTensor &tensor = tensors.find(name)->second;
  // A tensor without elements: nothing is written.
  if (llvm::any_of(tensor.extents,
                   [](const Expr &extent) { return extent.isConstant(0); }))
    return success();
  Memory &memory = memories[tensor.memory];
  if (!last && (memory.maybeShares || memory.maybeShared)) {
    reason = "writes in place to memory that may be shared: a reshape of a "
             "tensor that is not contiguous, or a view as another dtype, came "
             "before";
    return failure();
  }
  for (auto [i, extent] : llvm::enumerate(tensor.extents))
    if (!extent.isConstant(1) && llvm::none_of(tensor.map, [&](const Expr &e) {
          return e.usesDim(i);
        })) {
      reason = "writes in place to an expanded tensor";
      return failure();
    }
  if (memory.argument >= 0) {
    StringAttr kind =
        cast<StringAttr>(argumentAttrs[memory.argument].get(kKindAttr));
    if (kind.getValue() != "state") {
      reason = "writes in place to an argument that is not a buffer or input";
      return failure();
    }
  }
  memory.value = tensor.whole ? value
                              : writeWindow(*composer, memory.value,
                                            tensor.extents, tensor.map, value);
  memory.written = true;
  ++memory.version;
  return success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

bool Importer::isSymbolic(const Node &node) {
  StringRef target = node.target;
  if (target.consume_front("torch.ops.aten.")) {
    StringRef op = target.split('.').first;
    return op == "sym_size" || op == "sym_numel" || op == "sym_stride" ||
           op == "sym_storage_offset";
  }
  return target.starts_with("_operator.") || target.starts_with("math.") ||
         target.starts_with("torch.sym_") ||
         target.starts_with("torch.utils._sympy");
}

bool Importer::isInPlace(const Node &node) {
  StringRef target = node.target;
  if (!target.consume_front("torch.ops."))
    return false;
  StringRef name = target.rsplit('.').first;
  return name.ends_with("_") && !name.ends_with("__");
}

bool Importer::isPoisoned(const Node &node) const {
  for (const NamedArgument &input : node.inputs)
    for (const std::string &name : input.value.names)
      if (!name.empty() && poisoned.count(name))
        return true;
  return false;
}

std::string Importer::checkResult(const std::string &name, Value value) {
  const TensorMeta *meta = getMeta(name);
  if (!meta)
    return {};
  auto type = cast<RankedTensorType>(value.getType());
  auto dtype = getDType(type.getElementType());
  if (!dtype || DTypeCode::of(*dtype) != meta->dtype) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "gives element type " << type.getElementType()
       << ", but the archive says " << meta->dtype.name();
    return text;
  }
  SmallVector<Expr> extents = getExtents(value);
  bool same = extents.size() == meta->sizes.size();
  for (unsigned i = 0; same && i < extents.size(); ++i)
    same = assumptions.equal(extents[i], meta->sizes[i]) != false;
  if (same)
    return {};
  auto print = [](ArrayRef<Expr> sizes) {
    std::string text = "[";
    for (auto [i, e] : llvm::enumerate(sizes))
      text += (i ? ", " : "") + e.str();
    return text + "]";
  };
  return "gives shape " + print(extents) + ", but the archive says " +
         print(meta->sizes);
}

LogicalResult Importer::store(const OpCall::Returned &result,
                              const std::string &name, std::string &reason) {
  reason = checkResult(name, result.value);
  if (!reason.empty())
    return failure();
  // If autocast converted the tensor, a view of it is a view of a new tensor.
  auto isCast = [&] {
    if (!operandType)
      return false;
    Value whole = memories[tensors.find(result.viewOf)->second.memory].value;
    return getElementTypeOrSelf(whole) != getElementTypeOrSelf(result.value);
  };
  if (result.viewOf.empty() || isCast()) {
    define(name, result.value, -1);
    return success();
  }
  if (result.maybeView) {
    define(name, result.value, -1);
    unsigned source = tensors.find(result.viewOf)->second.memory;
    memories.back().maybeShares = source;
    memories[source].maybeShared = true;
    return success();
  }
  const GraphTensor source = tensors.find(result.viewOf)->second;
  GraphTensor tensor;
  tensor.memory = source.memory;
  tensor.extents = result.extents;
  // Compose the view's map to the source's elements with the source's own map.
  std::vector<Expr> dims(result.map.begin(), result.map.end());
  Assumptions inside(
      assumptions.getSymbols(),
      std::vector<Expr>(result.extents.begin(), result.extents.end()));
  for (const Expr &e : source.map)
    tensor.map.push_back(inside.simplify(e.substituteDims(dims)));
  tensor.whole = tensor.extents == getExtents(memories[source.memory].value);
  for (auto [i, e] : llvm::enumerate(tensor.map))
    tensor.whole &= e.asDim() == i;
  tensor.value = result.value;
  tensor.version = memories[source.memory].version;
  tensors[name] = std::move(tensor);
  return success();
}

Status Importer::translate(const Node &node, OpCall &call, bool inPlace) {
  LUMINAL_CHECK(call.bind());
  Status built = call.entry.handler(call), shapes = composer->checkShapes();
  LUMINAL_CHECK(built);
  LUMINAL_CHECK(shapes);
  LUMINAL_CHECK(call.checkOperands());
  if (std::string unread = call.findUnread(); !unread.empty())
    return call.fail("argument '" + unread + "' is not supported");

  std::string reason;
  if (inPlace) {
    if (call.results.size() != 1 || node.inputs.empty() ||
        node.inputs[0].value.kind != Argument::Tensor)
      return call.fail("has no in-place form");
    const std::string &self = node.inputs[0].value.names[0];
    GraphTensor &tensor = tensors.find(self)->second;
    Type element =
        cast<RankedTensorType>(read(tensor).getType()).getElementType();
    Value value = composer->cast(call.results[0].value, element);
    SmallVector<Expr> extents = getExtents(value);
    for (unsigned i = 0; i < extents.size(); ++i)
      if (extents.size() != tensor.extents.size() ||
          assumptions.equal(extents[i], tensor.extents[i]) != true)
        return call.fail("the result has another shape than the tensor that "
                         "it is written to");
    value = composer->broadcastTo(value, tensor.extents);
    if (failed(write(self, value, reason)))
      return call.fail(reason);
    for (const Argument &output : node.outputs)
      for (const std::string &name : output.names)
        if (!name.empty()) // A result that nothing reads has no name.
          tensors[name] = tensors.find(self)->second;
    return {};
  }

  unsigned expected = call.getNumResults();
  if (expected > call.results.size() && !call.othersLeftOut)
    return call.fail("gives " + Twine(call.results.size()) +
                     " results, but the archive has " + Twine(expected));
  // A view op with `_copy` returns new memory.
  if (StringRef(node.target).contains("_copy."))
    for (OpCall::Returned &result : call.results)
      result.viewOf.clear();
  unsigned i = 0;
  for (const Argument &output : node.outputs) {
    if (output.kind != Argument::Tensor && output.kind != Argument::Tensors &&
        output.kind != Argument::OptionalTensors &&
        output.kind != Argument::None)
      return call.fail("has a result that is not a tensor");
    for (const std::string &name : output.names) {
      if (i == call.results.size()) {
        if (isRead(name))
          return call.fail(
              "its result '" + name +
              "' is only used by gradients, which are not supported");
        continue;
      }
      // A result that nothing reads has no name.
      const OpCall::Returned &result = call.results[i++];
      if (!name.empty() && failed(store(result, name, reason)))
        return call.fail(reason);
    }
  }
  return {};
}

Status Importer::judgeGrowth(const Node &node, const OpCall &call) {
  for (const OpCall::Growth &growth : call.growths) {
    const Expr &n = growth.elements;
    std::optional<int64_t> most = assumptions.upperBound(n);
    if (most && *most <= kCostlyElements)
      continue;
    // The Python package recognizes the reason by its first words.
    std::string text =
        ("its cost grows " + growth.how + " " + n.str() + " elements").str();
    if (options.refuseCostly)
      return call.fail(text);
    emitWarning(getLoc(node)) << node.getOp() << ": " << text;
    return {};
  }
  return {};
}

bool Importer::isRead(const std::string &name) const {
  auto names = [&](const Argument &a) {
    return llvm::is_contained(a.names, name);
  };
  return llvm::any_of(program.nodes,
                      [&](const Node &node) {
                        return llvm::any_of(node.inputs,
                                            [&](const NamedArgument &input) {
                                              return names(input.value);
                                            });
                      }) ||
         llvm::any_of(program.outputs, [&](const OutputSpec &output) {
           return names(output.value);
         });
}

Operation *Importer::getLastOp() {
  Block &block = function.getBody().front();
  return block.empty() ? nullptr : &block.back();
}

void Importer::noteOps(const Node &node, Operation *before) {
  Block &block = function.getBody().front();
  for (Operation &op : llvm::make_range(
           before ? std::next(before->getIterator()) : block.begin(),
           block.end()))
    nodeOf[&op] = &node;
}

void Importer::translate(const Node &node) {
  if (isSymbolic(node))
    return;
  Location loc = getLoc(node);
  composer->setLoc(loc);
  auto poison = [&] {
    for (const Argument &output : node.outputs)
      poisoned.insert(output.names.begin(), output.names.end());
  };
  // Nodes that depend on an unsupported op are neither translated nor reported.
  if (isPoisoned(node))
    return poison();

  std::string op = node.getOp();
  StringRef target = op;
  if (!node.refused.empty()) {
    problems.push_back({op, node.refused, loc});
    return poison();
  }
  if (isLoop(node)) {
    Status status = translateLoop(node);
    if (status)
      return;
    problems.push_back({target.str(), status.error().message, loc});
    return poison();
  }
  const OpEntry *entry = findOp(target);
  bool inPlace = false;
  if (!entry) {
    auto [name, overload] = target.rsplit('.');
    if (name.ends_with("_") && !name.ends_with("__")) {
      entry = findOp((name.drop_back() + "." + overload).str());
      inPlace = entry != nullptr;
    }
  }
  OpEntry custom;
  if (!entry) {
    std::string kernel = getKernelName(target);
    if (llvm::is_contained(options.kernels, kernel)) {
      custom = makeCustomEntry(kernel, node);
      entry = &custom;
    }
  }
  if (!entry) {
    problems.push_back({target.str(), getRefusal(target).str(), loc});
    return poison();
  }
  auto build = [&]() -> Status {
    OpCall call(*this, node, *entry, *composer);
    LUMINAL_CHECK(translate(node, call, inPlace));
    LUMINAL_CHECK(judgeGrowth(node, call));
    addRequirements(agreed, call.required);
    return Status();
  };
  Status status = build();
  // The archive does not record the casts that autocast inserts: they show only
  // as operand types that do not match.
  operandType = getAutocastType(node);
  bool done = status || (operandType && build());
  operandType = {};
  if (done)
    return;
  problems.push_back({target.str(), status.error().message, loc});
  poison();
}

/// The type that autocast converts the node's operands to, which is that of its
/// result.
Type Importer::getAutocastType(const Node &node) const {
  if (!node.autocast || node.outputs.empty() || node.outputs[0].names.empty())
    return {};
  const TensorMeta *meta = getMeta(node.outputs[0].names[0]);
  auto dtype = meta ? meta->dtype.dtype() : std::nullopt;
  Type element = dtype ? getElementType(context, *dtype) : Type();
  return element && isAutocast(element) ? element : Type();
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

LogicalResult Importer::verifyModule() {
  std::string message;
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
    });
    if (succeeded(verify(*module)))
      return success();
    const Node *last = nullptr;
    for (Operation &op : function.getBody().front()) {
      const Node *node = nodeOf.lookup(&op);
      message.clear();
      if (!node || node == last || succeeded(verify(&op)))
        continue;
      problems.push_back({node->getOp(), message, op.getLoc()});
      last = node;
    }
  }
  // Errors in ops without a node are reported unchanged.
  return problems.empty() ? verify(*module) : reportProblems();
}

LogicalResult Importer::reportProblems() {
  if (problems.empty())
    return success();
  // Report a single error that lists each op once with its reason, and a note
  // for each node.
  std::map<std::string, unsigned> counts;
  std::map<std::string, SmallVector<Location>> places;
  std::vector<std::string> order;
  for (const Problem &p : problems) {
    std::string text = p.op + (p.reason.empty() ? "" : ": " + p.reason);
    if (!counts[text]++)
      order.push_back(text);
    places[text].push_back(p.loc);
  }
  auto diag = emitError(problems.front().loc);
  diag << (order.size() == 1 ? "unsupported op " : "unsupported ops ");
  for (auto [i, text] : llvm::enumerate(order)) {
    diag << (i ? "; " : "") << text;
    std::string modules = getModules(FusedLoc::get(context, places[text]));
    // "; " separates ops in this message.
    for (size_t at; (at = modules.find("; ")) != std::string::npos;)
      modules[at] = ',';
    std::string beside;
    if (counts[text] > 1)
      beside = std::to_string(counts[text]) + " nodes";
    if (!modules.empty())
      beside += (beside.empty() ? "of " : " of ") + modules;
    if (!beside.empty())
      diag << " (" << beside << ")";
  }
  for (const Problem &p : ArrayRef(problems).drop_front())
    diag.attachNote(p.loc) << p.op << " is here";
  return failure();
}

LogicalResult Importer::makeOutputs() {
  SmallVector<Value> values;
  SmallVector<NamedAttrList> attrs;
  std::set<std::string> names;
  auto add = [&](Value value, std::string name,
                 std::optional<int64_t> updates) {
    NamedAttrList list;
    std::string unique = name;
    for (unsigned i = 1; !names.insert(unique).second; ++i)
      unique = name + "_" + std::to_string(i);
    list.set(kNameAttr, builder.getStringAttr(unique));
    if (updates)
      list.set(kUpdatesAttr, builder.getI64IntegerAttr(*updates));
    values.push_back(value);
    attrs.push_back(std::move(list));
  };

  // In a decomposed program, the outputs name the new values of mutated
  // arguments; an output that is an argument means its value before the call.
  std::map<std::string, Value> outputs;
  for (const OutputSpec &spec : program.outputs)
    if (spec.value.kind == Argument::Tensor) {
      if (const TensorMeta *meta = getMeta(spec.value.names[0]);
          meta && meta->dtype.isComplex())
        return fail(
            fileLoc,
            "signature: output '" + spec.value.names[0] + "' has dtype " +
                meta->dtype.name() +
                ", which is not supported; return its view_as_real instead");
      if (!tensors.count(spec.value.names[0]))
        return fail(fileLoc, "signature: output '" + spec.value.names[0] +
                                 "' names an unknown tensor");
      outputs[spec.value.names[0]] = read(spec.value.names[0]);
    }
  std::map<std::string, std::string> byFqn = program.getInputsByFqn();
  for (const OutputSpec &spec : program.outputs) {
    if (spec.kind == OutputSpec::User)
      continue;
    auto fqn = byFqn.find(spec.target);
    std::string input = spec.kind == OutputSpec::InputMutation ? spec.target
                        : fqn == byFqn.end()                   ? std::string()
                                                               : fqn->second;
    const std::string &name = spec.value.names[0];
    if (!tensors.count(input))
      return fail(fileLoc, "signature: mutation of '" + spec.target +
                               "' names an unknown tensor");
    if (name == input)
      continue;
    Value value = outputs[name];
    if (value.getType() != read(input).getType())
      return fail(fileLoc, "signature: mutation of '" + spec.target +
                               "' changes its type");
    std::string reason;
    if (failed(write(input, value, reason, /*last=*/true)))
      return fail(fileLoc,
                  "signature: mutation of '" + spec.target + "' " + reason);
  }
  for (const Memory &memory : memories)
    if (memory.argument >= 0 && memory.written)
      add(memory.value,
          cast<StringAttr>(argumentAttrs[memory.argument].get(kNameAttr)).str(),
          memory.argument);

  // Only memory that was written is a state; findMutations decides by names
  // alone and is conservative.
  for (const Memory &memory : memories) {
    if (memory.argument < 0 || memory.written)
      continue;
    NamedAttrList &list = argumentAttrs[memory.argument];
    if (cast<StringAttr>(list.get(kKindAttr)).getValue() == "state")
      list.set(kKindAttr,
               builder.getStringAttr(memory.isInput ? "input" : "weight"));
  }

  unsigned position = 0;
  for (const OutputSpec &spec : program.outputs) {
    if (spec.kind != OutputSpec::User)
      continue;
    const Argument &arg = spec.value;
    auto literal = [&](Attribute value) {
      literalOutputs.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("position",
                                builder.getI64IntegerAttr(position)),
           builder.getNamedAttr("value", value)}));
    };
    switch (arg.kind) {
    case Argument::Tensor:
      add(outputs[arg.names[0]], arg.names[0], std::nullopt);
      break;
    case Argument::Int:
      if (arg.exprs[0].asConstant())
        literal(builder.getI64IntegerAttr(*arg.exprs[0].asConstant()));
      else
        add(composer->iota({}, arg.exprs[0]), "size", std::nullopt);
      break;
    case Argument::None:
      literal(builder.getUnitAttr());
      break;
    case Argument::Bool:
      literal(builder.getBoolAttr(arg.exprs[0].isConstant(1)));
      break;
    case Argument::Float:
      literal(builder.getF64FloatAttr(arg.doubles[0]));
      break;
    case Argument::String:
      literal(builder.getStringAttr(arg.names[0]));
      break;
    default:
      return fail(fileLoc, "signature: output " + Twine(position) +
                               " is of a kind that is not supported");
    }
    ++position;
  }

  for (const auto &[value, text] : assertions) {
    add(value, "assertion", std::nullopt);
    attrs.back().set(kAssertionAttr, builder.getStringAttr(text));
  }

  func::ReturnOp::create(builder, fileLoc, values);
  SmallVector<Type> resultTypes;
  for (Value v : values)
    resultTypes.push_back(v.getType());
  function.setType(FunctionType::get(
      context, function.getBody().getArgumentTypes(), resultTypes));
  SmallVector<Attribute> argDicts, resultDicts;
  for (NamedAttrList &list : argumentAttrs)
    argDicts.push_back(list.getDictionary(context));
  for (NamedAttrList &list : attrs)
    resultDicts.push_back(list.getDictionary(context));
  function.setArgAttrsAttr(builder.getArrayAttr(argDicts));
  function.setResAttrsAttr(builder.getArrayAttr(resultDicts));
  if (!literalInputs.empty())
    function->setAttr(hlir::kLiteralInputsAttr,
                      builder.getArrayAttr(literalInputs));
  if (!literalOutputs.empty())
    function->setAttr(hlir::kLiteralOutputsAttr,
                      builder.getArrayAttr(literalOutputs));
  return success();
}

OwningOpRef<ModuleOp> Importer::run() {
  module = ModuleOp::create(fileLoc);
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(builder, fileLoc, "main",
                                  FunctionType::get(context, {}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  if (failed(makeSymbols()))
    return {};
  composer = std::make_unique<Composer>(builder, fileLoc, assumptions);
  findMutations();
  findChecks();
  if (failed(makeInputs()))
    return {};
  for (auto [node, role] : llvm::zip_equal(program.nodes, roles)) {
    Operation *before = getLastOp();
    // A number read from an element for another purpose is reported below.
    if (role.isScalar && (role.isDropped || isSymbolic(node)))
      translateScalar(node);
    else if (role.isScalar)
      poisonScalars(node);
    if (role.asserted)
      translateAssertion(node, *role.asserted);
    if (!role.isDropped)
      translate(node);
    noteOps(node, before);
  }
  if (failed(makeChecks()))
    return {};
  composer->setLoc(fileLoc);
  if (failed(reportProblems()) || failed(makeOutputs()))
    return {};
  // Handlers may create ops that end up unused.
  eraseDeadOps(function.getBody().front());
  if (failed(verifyModule()))
    return {};
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

static OwningOpRef<ModuleOp> import(MLIRContext *context,
                                    Result<ZipArchive> zip,
                                    const std::string &name,
                                    const PT2ImportOptions &options) {
  context->loadDialect<func::FuncDialect, HLIRDialect>();
  Location loc = FileLineColLoc::get(context, name, 0, 0);
  // The location already names the file.
  auto report = [&](const Error &error) -> OwningOpRef<ModuleOp> {
    StringRef message = error.message;
    if (message.consume_front(name))
      message = message.ltrim("!: ");
    emitError(loc) << message;
    return {};
  };
  if (!zip)
    return report(zip.error());
  Result<Archive> archive = Archive::read(std::move(*zip));
  if (!archive)
    return report(archive.error());
  Result<ExportedProgram> program =
      ExportedProgram::parse(archive->getProgram());
  if (!program)
    return report(program.error());
  return Importer(context, *archive, std::move(*program), options).run();
}

OwningOpRef<ModuleOp> luminal::importPT2(MLIRContext *context,
                                         const std::string &path,
                                         const PT2ImportOptions &options) {
  return import(context, ZipArchive::open(path), path, options);
}

OwningOpRef<ModuleOp> luminal::importPT2(MLIRContext *context, Bytes bytes,
                                         const std::string &name,
                                         const PT2ImportOptions &options) {
  return import(context, ZipArchive::fromBytes(std::move(bytes), name), name,
                options);
}
