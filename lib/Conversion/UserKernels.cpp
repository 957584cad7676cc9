//===- UserKernels.cpp - Kernels declared by a user -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/UserKernels.h"
#include "luminal/Support/Sha256.h"
#include "luminal/Support/ZipArchive.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/Dialect/PDL/IR/PDLTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace luminal;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static OwningOpRef<ModuleOp> parseFile(MLIRContext *context, StringRef path) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> text = openInputFile(path, &message);
  if (!text) {
    emitError(FileLineColLoc::get(context, path, 0, 0)) << message;
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(context));
  if (module && module->getBody()->empty()) {
    emitError(FileLineColLoc::get(context, path, 0, 0))
        << "the file declares no kernel";
    return nullptr;
  }
  return module;
}

/// The code that the op contains, or of the file that it names relative to the
/// directory of `path`.
static FailureOr<std::string> readCode(llir::UserCodeOp op, StringRef path) {
  if (std::optional<StringRef> text = op.getText())
    return text->str();
  SmallString<256> file(*op.getFile());
  if (llvm::sys::path::is_relative(file)) {
    file = llvm::sys::path::parent_path(path);
    llvm::sys::path::append(file, *op.getFile());
  }
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return op.emitError() << "'" << file
                          << "': " << buffer.getError().message();
  if ((*buffer)->getBufferSize() > kMaxMemberBytes)
    return op.emitError() << "'" << file << "': has more than "
                          << kMaxMemberBytes << " bytes";
  return (*buffer)->getBuffer().str();
}

/// Reads the kernel's launch and code. The artifact's file is named by a digest
/// of the code, so everything that refers to the file depends on every byte of
/// it.
static LogicalResult readLaunch(UserKernel &kernel, llir::UserCodeOp op,
                                StringRef path, const TargetInterface &target) {
  FailureOr<std::string> bytes = readCode(op, path);
  if (failed(bytes))
    return failure();
  Result<std::string> form =
      target.checkUserCode({*bytes, op.getEntry(), op.getArch().value_or("")});
  if (!form)
    return op.emitError() << form.error().message;
  Sha256 hash;
  hash.update(*bytes);
  kernel.code = {"custom/" + hash.hex() + "." + *form, std::move(*bytes)};
  auto launch = cast<llir::CustomLaunchAttrInterface>(op.getLaunchAttr());
  kernel.spec.launch = launch.withCode(kernel.code.name, op.getEntry());
  // The runtime's checks of a launch apply here too.
  FunctionType type = kernel.spec.type;
  if (Status status = runtime::verifyLaunch(
          toLaunchSpec(kernel.spec.launch),
          type.getNumInputs() + type.getNumResults(), type.getNumResults(), 0);
      !status)
    return op.emitError() << "its launch: " << status.error().message;
  return success();
}

LogicalResult UserKernels::add(ModuleOp file, StringRef path,
                               const TargetInterface *target) {
  SymbolTable symbols(file);
  for (Operation &op : *file.getBody()) {
    if (isa<pdl::PatternOp, func::FuncOp>(op))
      continue;
    auto declared = dyn_cast<llir::UserKernelOp>(op);
    if (!declared)
      return op.emitError() << "a file of kernels holds llir.user_kernel, "
                               "func.func and pdl.pattern ops, not '"
                            << op.getName() << "'";
    StringRef name = declared.getSymName();
    if (auto [it, isNew] = byName.try_emplace(name, kernels.size()); !isNew) {
      InFlightDiagnostic diag = declared.emitError()
                                << "two kernels are named '" << name << "'";
      diag.attachNote(kernels[it->second].loc) << "the other one";
      return diag;
    }
    UserKernel &kernel = kernels.emplace_back(
        UserKernel{name.str(),
                   declared.getLoc(),
                   {declared.getType(), declared.getCost(), {}},
                   {},
                   {}});
    if (auto reference = declared.getReferenceAttr()) {
      kernel.reference = symbols.lookup<func::FuncOp>(reference.getAttr());
      if (!kernel.reference || kernel.reference.isDeclaration())
        return declared.emitError()
               << "has no reference " << reference << " in its file";
      if (kernel.reference.getFunctionType() != declared.getType())
        return declared.emitError()
               << "its reference " << reference << " is of another type";
      WalkResult calls = kernel.reference.walk([](hlir::CustomOp op) {
        op.emitError() << "a reference may not call kernels";
        return WalkResult::interrupt();
      });
      if (calls.wasInterrupted())
        return failure();
    }
    if (!target)
      continue;
    for (auto code : declared.getBody().getOps<llir::UserCodeOp>())
      if (cast<llir::LaunchAttrInterface>(code.getLaunchAttr())
              .getTargetName() == target->getName())
        if (failed(readLaunch(kernel, code, path, *target)))
          return failure();
  }
  return success();
}

FailureOr<UserKernels> UserKernels::load(MLIRContext *context,
                                         ArrayRef<std::string> files,
                                         const TargetInterface *target) {
  context->loadDialect<pdl::PDLDialect, hlir::HLIRDialect, llir::LLIRDialect,
                       func::FuncDialect>();
  UserKernels result;
  for (const std::string &path : files) {
    result.files.push_back(parseFile(context, path));
    if (!result.files.back() ||
        failed(result.add(*result.files.back(), path, target)))
      return failure();
  }
  for (auto &file : result.files)
    if (failed(result.checkRules(*file)))
      return failure();
  return std::move(result);
}

const UserKernel *UserKernels::find(StringRef name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &kernels[it->second];
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

LogicalResult UserKernels::checkProgram(ModuleOp program) const {
  WalkResult result = program.walk([&](hlir::CustomOp op) -> WalkResult {
    const UserKernel *kernel = find(op.getName());
    if (!kernel)
      return WalkResult::advance();
    auto name = [&] { return "kernel '" + op.getName().str() + "' "; };
    if (!kernel->spec.launch) {
      InFlightDiagnostic diag = op.emitError()
                                << name() << "has no code for the target";
      diag.attachNote(kernel->loc) << "declared here";
      return diag;
    }
    // Attributes of other dialects are labels and allowed.
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (!attribute.getName().strref().contains('.'))
        return op.emitError() << name() << "takes no attributes, found "
                              << attribute.getName();
    std::string why;
    if (kernel->spec.getUse(op->getOperandTypes(), op->getResultTypes(),
                            hlir::getAssumptions(op), &why))
      return WalkResult::advance();
    InFlightDiagnostic diag = op.emitError() << name() << why;
    diag.attachNote(kernel->loc) << "declared here";
    return diag;
  });
  return failure(result.wasInterrupted());
}

/// The name of the kernel that an operation of a rule calls; null if it is
/// another operation, or if the rule's match provides the name.
static StringAttr getKernelName(pdl::OperationOp op) {
  if (op.getOpName() != hlir::CustomOp::getOperationName())
    return {};
  for (auto [name, value] :
       llvm::zip_equal(op.getAttributeValueNames(), op.getAttributeValues()))
    if (cast<StringAttr>(name) == "name")
      if (auto constant = value.getDefiningOp<pdl::AttributeOp>())
        return dyn_cast_or_null<StringAttr>(constant.getValueAttr());
  return {};
}

LogicalResult UserKernels::checkRules(ModuleOp rules) const {
  WalkResult result = rules.walk([&](pdl::OperationOp op) -> WalkResult {
    StringAttr name = getKernelName(op);
    if (!name || !op->getParentOfType<pdl::RewriteOp>())
      return WalkResult::advance();
    const UserKernel *kernel = find(name.getValue());
    if (!kernel)
      return op.emitError() << "makes a call of " << name
                            << ", which no kernel is declared as";
    auto check = [&](ValueRange values, unsigned expected, StringRef what) {
      bool isOpen = llvm::any_of(values, [](Value value) {
        return isa<pdl::RangeType>(value.getType());
      });
      if (isOpen || values.size() == expected)
        return success();
      InFlightDiagnostic diag = op.emitError()
                                << "kernel " << name << " takes " << expected
                                << " " << what << ", found " << values.size();
      diag.attachNote(kernel->loc) << "declared here";
      return LogicalResult(diag);
    };
    FunctionType type = kernel->spec.type;
    return failure(
        failed(check(op.getOperandValues(), type.getNumInputs(), "operands")) ||
        (!op.getTypeValues().empty() &&
         failed(check(op.getTypeValues(), type.getNumResults(), "results"))));
  });
  return failure(result.wasInterrupted());
}

/// The rule hlir.custom "name"(operands) -> llir.call "name"(operands), for
/// operands of the kernel's types.
static void addCallRule(const UserKernel &kernel, OpBuilder &builder) {
  ImplicitLocOpBuilder b(kernel.loc, builder);
  StringRef name = kernel.name;
  auto pattern = pdl::PatternOp::create(b, 1, ("call " + name).str());
  pattern->setAttr("eqsat.promise", b.getStringAttr("exact"));
  pattern->setAttr("eqsat.stratum", b.getStringAttr("lowering"));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&pattern.getBodyRegion().front());
  Type value = pdl::ValueType::get(b.getContext()),
       type = pdl::TypeType::get(b.getContext()),
       attribute = pdl::AttributeType::get(b.getContext());
  SmallVector<Value> operands, types;
  FunctionType function = kernel.spec.type;
  for (unsigned i = 0; i < function.getNumInputs(); ++i)
    operands.push_back(pdl::OperandOp::create(b, value, Value()));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    types.push_back(pdl::TypeOp::create(b, type, TypeAttr()));
  Value nameAttr = pdl::AttributeOp::create(b, b.getStringAttr(name));
  Value spec = pdl::AttributeOp::create(b, kernel.spec.toAttribute());
  auto root = pdl::OperationOp::create(b, hlir::CustomOp::getOperationName(),
                                       operands, {"name"}, {nameAttr}, types);
  SmallVector<Value> arguments = {spec};
  llvm::append_range(arguments, operands);
  llvm::append_range(arguments, types);
  auto use = pdl::ApplyNativeConstraintOp::create(
      b, TypeRange{attribute, attribute}, "UseKernel", arguments);
  auto rewrite = pdl::RewriteOp::create(b, root, StringAttr(), ValueRange());
  b.setInsertionPointToStart(&rewrite.getBodyRegion().emplaceBlock());
  auto call = pdl::OperationOp::create(
      b, llir::CallOp::getOperationName(), operands,
      {"name", "costs", "custom_launch"},
      {nameAttr, use.getResult(0), use.getResult(1)}, types);
  pdl::ReplaceOp::create(b, root, call, ValueRange());
}

void UserKernels::addRules(ModuleOp program) const {
  OpBuilder b = OpBuilder::atBlockEnd(program.getBody());
  for (const UserKernel &kernel : kernels)
    if (kernel.spec.launch)
      addCallRule(kernel, b);
  for (const auto &file : files)
    for (auto pattern : file.get().getOps<pdl::PatternOp>())
      b.clone(*pattern);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

LogicalResult UserKernels::addCode(ModuleOp lowered, TargetCode &code) const {
  llvm::StringSet<> added;
  for (const CodeMember &member : code.members)
    added.insert(member.name);
  WalkResult result = lowered.walk([&](llir::StepOp step) -> WalkResult {
    auto launch = dyn_cast_or_null<llir::CustomLaunchAttrInterface>(
        Attribute(step.getLaunchAttr()));
    if (!launch)
      return WalkResult::advance();
    StringRef name = launch.getCode();
    auto kernel = llvm::find_if(
        kernels, [&](const UserKernel &k) { return k.code.name == name; });
    if (kernel == kernels.end())
      return step.emitError()
             << "runs '" << name << "', code that no file of --kernels has";
    if (added.insert(name).second)
      code.members.push_back(kernel->code);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
