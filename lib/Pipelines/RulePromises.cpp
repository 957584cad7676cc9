//===- RulePromises.cpp - Checks the promises of user rules ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/EqSat/Patterns/rule-promises.test.
//
//===----------------------------------------------------------------------===//

#include "RulePromises.h"
#include "luminal/EqSat/Program/SaturationSession.h"
#include "luminal/Reference/Interpreter.h"
#include "luminal/Runtime/Machine.h"
#include "luminal/Support/OutputFile.h"
#include "luminal/Support/Sha256.h"
#include "luminal/Support/Version.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace luminal;

using Tensors = SmallVector<reference::Tensor>;
using Clock = std::chrono::steady_clock;
using remark::detail::Remark;

static constexpr unsigned kRounds = 16;

//===----------------------------------------------------------------------===//
// The left side as a program
//===----------------------------------------------------------------------===//

namespace {
/// Makes a `func.func @main` of the ops that a pattern matches.
class LeftSide {
public:
  /// A range of operands gets `rangeSize` operands.
  LeftSide(pdl::PatternOp pattern, Type elementType, size_t rangeSize)
      : pattern(pattern), builder(pattern.getContext()), rangeSize(rangeSize),
        sample(RankedTensorType::get({4, 8}, elementType)) {}

  /// Null if no program can be made.
  OwningOpRef<ModuleOp> make();

private:
  Type typeOf(Value type) {
    if (!type)
      return sample;
    auto it = types.find(type);
    return it == types.end() ? sample : it->second;
  }
  bool visit(Operation &op);
  bool makeOperation(pdl::OperationOp op);

  pdl::PatternOp pattern;
  OpBuilder builder;
  size_t rangeSize;
  Type sample;
  func::FuncOp function;
  DenseMap<Value, Type> types;
  DenseMap<Value, Attribute> attributes;
  DenseMap<Value, SmallVector<Value>> values;
};
} // namespace

bool LeftSide::makeOperation(pdl::OperationOp op) {
  if (!op.getOpName())
    return false;
  OperationState state(op.getLoc(), *op.getOpName());
  for (Value operand : op.getOperandValues()) {
    auto it = values.find(operand);
    if (it == values.end())
      return false;
    state.addOperands(it->second);
  }
  for (auto [name, value] :
       llvm::zip_equal(op.getAttributeValueNamesAttr().getAsRange<StringAttr>(),
                       op.getAttributeValues())) {
    auto it = attributes.find(value);
    if (it == attributes.end())
      return false;
    state.addAttribute(name, it->second);
  }
  for (Value type : op.getTypeValues())
    state.addTypes(typeOf(type));
  if (state.types.empty())
    state.addTypes(sample); // the op infers its type
  Operation *made = builder.create(state);
  // Types in the pattern get the values that the op infers for its results.
  SmallVector<Type> results;
  if (auto infer = dyn_cast<InferTypeOpInterface>(made);
      infer && succeeded(infer.inferReturnTypes(
                   op.getContext(), op.getLoc(), made->getOperands(),
                   made->getAttrDictionary(), made->getPropertiesStorage(),
                   made->getRegions(), results)))
    for (auto [result, type] : llvm::zip(made->getResults(), results))
      result.setType(type);
  for (auto [type, result] : llvm::zip(op.getTypeValues(), made->getResults()))
    types.try_emplace(type, result.getType());
  values[op.getOp()] = SmallVector<Value>(made->getResults());
  return succeeded(verify(made));
}

bool LeftSide::visit(Operation &op) {
  if (auto type = dyn_cast<pdl::TypeOp>(op)) {
    if (Type constant = type.getConstantTypeAttr()
                            ? type.getConstantTypeAttr().getValue()
                            : Type())
      types[type.getResult()] = constant;
    return true;
  }
  if (auto attribute = dyn_cast<pdl::AttributeOp>(op)) {
    Attribute value = attribute.getValueAttr();
    auto text = dyn_cast_or_null<StringAttr>(value);
    if (text && text.getValue().starts_with("#"))
      value = parseAttribute(text.getValue(), op.getContext());
    if (value)
      attributes[attribute.getResult()] = value;
    return true; // an attribute without a value makes its use fail
  }
  if (auto operand = dyn_cast<pdl::OperandOp>(op)) {
    Block &entry = function.getBody().front();
    values[operand.getResult()] = {
        entry.addArgument(typeOf(operand.getValueType()), op.getLoc())};
    return true;
  }
  if (auto operands = dyn_cast<pdl::OperandsOp>(op)) {
    SmallVector<Value> &all = values[operands.getResult()];
    for (size_t i = 0; i != rangeSize; ++i)
      all.push_back(
          function.getBody().front().addArgument(sample, op.getLoc()));
    return true;
  }
  if (isa<pdl::TypesOp>(op))
    return true; // inferred, or the type of the samples
  if (auto operation = dyn_cast<pdl::OperationOp>(op))
    return makeOperation(operation);
  if (auto result = dyn_cast<pdl::ResultOp>(op)) {
    const SmallVector<Value> &all = values[result.getParent()];
    if (result.getIndex() >= all.size())
      return false;
    Value one = all[result.getIndex()];
    values[result.getResult()] = {one};
    return true;
  }
  if (auto results = dyn_cast<pdl::ResultsOp>(op)) {
    if (results.getIndex())
      return false;
    SmallVector<Value> all = values[results.getParent()];
    values[results.getResult()] = all;
    return true;
  }
  // The engine runs natives on the program that is made here.
  return isa<pdl::ApplyNativeConstraintOp, pdl::RewriteOp>(op);
}

OwningOpRef<ModuleOp> LeftSide::make() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(pattern.getLoc());
  builder.setInsertionPointToStart(module->getBody());
  function = builder.create<func::FuncOp>(pattern.getLoc(), "main",
                                          builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  for (Operation &op : pattern.getBodyRegion().front())
    if (!visit(op))
      return nullptr;
  Value root = pattern.getRewriter().getRoot();
  SmallVector<Value> results =
      root ? values.lookup(root) : SmallVector<Value>();
  if (results.size() != 1)
    return nullptr;
  builder.create<func::ReturnOp>(pattern.getLoc(), results);
  function.setType(builder.getFunctionType(
      function.getBody().front().getArgumentTypes(), results[0].getType()));
  return succeeded(verify(*module)) ? std::move(module) : nullptr;
}

//===----------------------------------------------------------------------===//
// The right side
//===----------------------------------------------------------------------===//

/// The ops of a program, without the rest of its module.
static std::string printed(ModuleOp program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (func::FuncOp function : program.getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      block.print(os);
  return text;
}

/// All forms of the program that the rule produces.
static std::vector<OwningOpRef<ModuleOp>> applyRule(pdl::PatternOp pattern,
                                                    ModuleOp program) {
  std::vector<OwningOpRef<ModuleOp>> forms;
  auto rules = std::make_shared<OwningOpRef<ModuleOp>>(
      ModuleOp::create(pattern.getLoc()));
  auto copy = cast<pdl::PatternOp>(pattern->clone());
  (*rules)->getBody()->push_back(copy);
  // Make the rule fire for every type, whether or not values are known to be
  // finite.
  Builder b(pattern.getContext());
  copy->setAttr("eqsat.promise", b.getStringAttr("exact"));
  copy->removeAttr("eqsat.dtypes");
  copy.walk([&](pdl::AttributeOp op) {
    auto text = dyn_cast_or_null<StringAttr>(op.getValueAttr());
    if (text && text.getValue().starts_with("#"))
      if (Attribute value = parseAttribute(text.getValue(), op.getContext()))
        op.setValueAttr(value);
  });
  eqsat::RuleSelection selection;
  selection.noSets = true;
  selection.modules.push_back(**rules);
  selection.owner = rules;
  auto loaded = eqsat::SessionRules::load(pattern.getLoc(), selection);
  if (failed(loaded))
    return forms;
  eqsat::SessionOptions options;
  options.rules = *loaded;
  options.costModel = "unit";
  options.limits.maxNodes = 1000;
  options.limits.maxIterations = 4;
  auto function = *program.getOps<func::FuncOp>().begin();
  auto session = eqsat::SaturationSession::create(function, options);
  if (failed(session))
    return forms;
  llvm::StringSet<> known;
  auto take = [&](FailureOr<eqsat::Candidate> candidate) {
    if (failed(candidate))
      return;
    auto made = (*session)->materialise(*candidate);
    if (succeeded(made) && known.insert(printed(**made)).second)
      forms.push_back(std::move(*made));
  };
  // Extract without the root op and, in case the right side contains an op like
  // the root, also at random.
  Operation *returned = function.getBody().front().getTerminator();
  std::string root = eqsat::SaturationSession::priceKey(
      returned->getOperand(0).getDefiningOp());
  if (failed((*session)->setPrice(root, 1e30)))
    return forms;
  take((*session)->best());
  if (failed((*session)->setPrice(root, 1)))
    return forms;
  for (uint64_t seed = 1; seed != 9; ++seed)
    take((*session)->extract(seed, /*strength=*/4));
  return forms;
}

//===----------------------------------------------------------------------===//
// Both on samples
//===----------------------------------------------------------------------===//

static std::optional<reference::Tensor>
sampleTensor(RankedTensorType type, bool isAny, std::mt19937_64 &random) {
  SmallVector<APFloat> floats;
  SmallVector<APInt> integers;
  auto element = dyn_cast<FloatType>(type.getElementType());
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i != type.getNumElements(); ++i) {
    if (!element) {
      integers.emplace_back(type.getElementTypeBitWidth(), random(),
                            /*isSigned=*/false, /*implicitTrunc=*/true);
      continue;
    }
    const llvm::fltSemantics &semantics = element.getFloatSemantics();
    static const double special[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY,
                                     NAN, 0.5,  2.0, 1e30, -1e-30,   3.0};
    double value =
        isAny && random() % 2 ? special[random() % 12] : normal(random);
    bool loses;
    APFloat rounded(value);
    rounded.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
    floats.push_back(rounded);
  }
  return reference::fromAttribute(element
                                      ? DenseElementsAttr::get(type, floats)
                                      : DenseElementsAttr::get(type, integers));
}

static SmallVector<double> numbersOf(MLIRContext *context,
                                     const reference::Tensor &tensor) {
  SmallVector<double> numbers;
  for (APFloat x :
       reference::toAttribute(context, tensor).getValues<APFloat>()) {
    bool loses;
    x.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    numbers.push_back(x.convertToDouble());
  }
  return numbers;
}

/// The program with its floats in f64; null if it also has types with which
/// that does not verify.
static OwningOpRef<ModuleOp> widen(ModuleOp program, FloatType type) {
  if (type.getWidth() >= 64)
    return nullptr; // there is no wider type
  std::string text, name;
  llvm::raw_string_ostream(text) << program;
  llvm::raw_string_ostream(name) << type;
  for (size_t at; (at = text.find(name)) != std::string::npos;)
    text.replace(at, name.size(), "f64");
  return parseSourceString<ModuleOp>(text, program.getContext());
}

/// The promise that a pattern states.
struct Stated {
  StringRef text;
  double ulps = -1; ///< the ULPS of "rounding(ULPS)"
};

/// Describes how the two sides violate the promise; "" if the samples show no
/// violation.
static std::string compare(ModuleOp before, ModuleOp after,
                           const Stated &stated, Type elementType,
                           Clock::time_point end) {
  MLIRContext *context = before.getContext();
  auto left = *before.getOps<func::FuncOp>().begin();
  auto right = *after.getOps<func::FuncOp>().begin();
  auto element = dyn_cast<FloatType>(elementType);
  OwningOpRef<ModuleOp> wide;
  if (stated.ulps >= 0) {
    if (!element || !(wide = widen(before, element)))
      return "";
  }
  const Type result = left.getResultTypes()[0];
  const bool isLocal =
      llvm::all_of(left.getBody().front(),
                   [](Operation &op) {
                     return op.hasTrait<OpTrait::Elementwise>() ||
                            op.hasTrait<OpTrait::ConstantLike>() ||
                            isa<func::ReturnOp>(op);
                   }) &&
      llvm::all_of(left.getArgumentTypes(),
                   [&](Type type) { return type == result; });
  std::mt19937_64 random(1);
  for (unsigned round = 0; round != kRounds && Clock::now() < end; ++round) {
    Tensors inputs, wideInputs;
    const bool isAny = stated.text == "exact" && round % 2;
    for (Type type : left.getArgumentTypes()) {
      auto shaped = dyn_cast<RankedTensorType>(type);
      if (!shaped || !shaped.hasStaticShape())
        return "";
      auto made = sampleTensor(shaped, isAny, random);
      if (!made)
        return "";
      inputs.push_back(*made);
      if (!wide)
        continue;
      if (!isa<FloatType>(shaped.getElementType()))
        return "";
      auto f64 =
          RankedTensorType::get(shaped.getShape(), Float64Type::get(context));
      wideInputs.push_back(*reference::fromAttribute(DenseElementsAttr::get(
          f64, llvm::ArrayRef<double>(numbersOf(context, *made)))));
    }
    auto expected = reference::evaluate(left, inputs);
    auto got = reference::evaluate(right, inputs);
    if (failed(expected) || failed(got) ||
        (*expected)[0].getShape() != (*got)[0].getShape() ||
        (*expected)[0].getDType() != (*got)[0].getDType())
      return "";
    if (!std::memcmp((*expected)[0].data(), (*got)[0].data(),
                     (*got)[0].getNumBytes()))
      continue;
    if (!isa<FloatType>(getElementTypeOrSelf(result)))
      return "its sides give different integers";
    SmallVector<double> x = numbersOf(context, (*got)[0]),
                        y = numbersOf(context, (*expected)[0]), exact;
    if (wide) {
      auto results = reference::evaluate(*wide->getOps<func::FuncOp>().begin(),
                                         wideInputs);
      if (failed(results))
        return "";
      exact = numbersOf(context, (*results)[0]);
    }
    // The error of a sum is measured relative to its terms: those at the same
    // position if the op is elementwise, otherwise any.
    SmallVector<double> scale(x.size(), 0);
    for (auto [input, type] :
         llvm::zip_equal(inputs, left.getArgumentTypes())) {
      if (!isa<FloatType>(getElementTypeOrSelf(type)))
        continue;
      SmallVector<double> given = numbersOf(context, input);
      for (auto [i, value] : llvm::enumerate(given))
        for (size_t k = isLocal ? i : 0; k < (isLocal ? i + 1 : x.size()); ++k)
          scale[k] = std::max(scale[k], std::fabs(value));
    }
    for (size_t k = 0; k != x.size(); ++k) {
      bool isGood = std::isnan(y[k]) ? std::isnan(x[k])
                                     : x[k] == y[k] && std::signbit(x[k]) ==
                                                           std::signbit(y[k]);
      if (stated.text == "finite")
        isGood |= !std::isfinite(y[k]);
      if (wide) {
        // Errors are relative to the result or to the terms of the sum,
        // whichever is larger.
        double most = std::max({std::fabs(exact[k]), scale[k], 1e-30});
        isGood |= !std::isfinite(exact[k]) || !std::isfinite(most) ||
                  !std::isfinite(y[k]);
        if (!isGood) {
          double unit = std::ldexp(1.0, std::ilogb(most) + 1 -
                                            int(element.getFPMantissaWidth()));
          isGood = std::fabs(x[k] - exact[k]) <=
                   (stated.ulps + 0.5) * unit + std::fabs(y[k] - exact[k]);
        }
      }
      if (isGood)
        continue;
      std::string text;
      llvm::raw_string_ostream(text)
          << "its right side gives " << llvm::format("%.9g", x[k])
          << " where the left gives " << llvm::format("%.9g", y[k]);
      return text;
    }
  }
  return "";
}

namespace {
/// The result of sampling a rule; both fields are empty if its promise holds on
/// the samples.
struct Finding {
  std::string wrong;     ///< how it violates its promise
  std::string unsampled; ///< why it could not be sampled
};
} // namespace

static Finding judge(pdl::PatternOp pattern, Clock::time_point end) {
  // The compilation that follows emits the errors.
  ScopedDiagnosticHandler quiet(pattern.getContext(),
                                [](Diagnostic &) { return success(); });
  auto promise = pattern->getAttrOfType<StringAttr>("eqsat.promise");
  if (!promise)
    return {"", "it promises nothing"};
  Stated stated{promise.getValue(), -1};
  StringRef text = stated.text;
  if (text.consume_front("rounding(") && text.consume_back(")") &&
      text.getAsDouble(stated.ulps))
    return {"", "its promise is not one of exact, finite and rounding(N)"};
  SmallVector<Type> elements;
  if (auto list = pattern->getAttrOfType<ArrayAttr>("eqsat.dtypes"))
    for (Attribute type : list)
      if (auto typed = dyn_cast<TypeAttr>(type))
        elements.push_back(typed.getValue());
  if (elements.empty())
    elements = {Float32Type::get(pattern.getContext()),
                IntegerType::get(pattern.getContext(), 32)};
  static constexpr size_t kRanges[] = {1, 2, 0};
  bool isMade = false, isApplied = false;
  for (Type element : elements) {
    OwningOpRef<ModuleOp> before;
    for (size_t size : kRanges)
      if (!before)
        before = LeftSide(pattern, element, size).make();
    if (!before)
      continue;
    isMade = true;
    for (OwningOpRef<ModuleOp> &after : applyRule(pattern, *before)) {
      isApplied = true;
      std::string wrong = compare(*before, *after, stated, element, end);
      if (wrong.empty())
        continue;
      std::string type;
      llvm::raw_string_ostream(type) << element;
      return {"promises " + stated.text.str() + ", but on sampled tensors of " +
                  type + " " + wrong,
              ""};
    }
  }
  if (!isMade)
    return {"", "no program of sampled tensors is its left side: an attribute "
                "has any value, or an op is not verified"};
  if (!isApplied)
    return {"", "it does not fire on sampled tensors: a native refuses them"};
  return {};
}

void luminal::samplePromises(MLIRContext &context, StringRef file,
                             const std::string &folder, double seconds) {
  auto text = llvm::MemoryBuffer::getFile(file);
  if (!text)
    return; // the compilation reports it
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler quiet(&context,
                                  [](Diagnostic &) { return success(); });
    module = parseSourceString<ModuleOp>((*text)->getBuffer(), &context, file);
  }
  if (!module)
    return;
  module->walk([&](pdl::OperationOp op) {
    if (std::optional<StringRef> name = op.getOpName())
      context.getOrLoadDialect(name->split('.').first);
  });
  Sha256 hash;
  hash.update(LUMINAL_VERSION);
  hash.update(std::to_string(seconds));
  hash.update(
      std::string_view((*text)->getBufferStart(), (*text)->getBufferSize()));
  // One line "NAME\tWRONG\tUNSAMPLED" for each rule: its Finding.
  std::string kept = runtime::getMachineFile(folder);
  kept = kept.substr(0, kept.rfind('/') + 1) + "rules-" +
         hash.hex().substr(0, 32) + ".txt";
  llvm::StringMap<Finding> found;
  if (auto before = llvm::MemoryBuffer::getFile(kept)) {
    for (StringRef line : llvm::split((*before)->getBuffer(), '\n'))
      if (auto [name, what] = line.split('\t'); !name.empty()) {
        auto [wrong, unsampled] = what.split('\t');
        found[name] = {wrong.str(), unsampled.str()};
      }
  } else {
    std::string lines;
    Clock::time_point end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(seconds));
    for (auto pattern : module->getOps<pdl::PatternOp>()) {
      if (!pattern.getSymName())
        continue;
      Finding finding = Clock::now() < end
                            ? judge(pattern, end)
                            : Finding{"", "the time for its file was over"};
      lines += pattern.getSymName()->str() + "\t" + finding.wrong + "\t" +
               finding.unsampled + "\n";
      found[*pattern.getSymName()] = std::move(finding);
    }
    // Failing to write the cache is not an error.
    (void)llvm::sys::fs::create_directories(llvm::sys::path::parent_path(kept));
    if (Result<OutputFile> out = OutputFile::create(kept))
      (void)out->keep(lines);
  }
  for (auto pattern : module->getOps<pdl::PatternOp>()) {
    auto it = found.find(pattern.getSymName().value_or(""));
    if (it == found.end())
      continue;
    const auto &[wrong, unsampled] = it->second;
    if (!wrong.empty())
      emitWarning(pattern.getLoc())
          << "rule '" << it->getKey() << "' " << wrong;
    if (!unsampled.empty())
      remark::missed(
          pattern.getLoc(),
          remark::RemarkOpts::name("sample").category("rule-promises"))
          << Remark::Arg("rule", it->getKey())
          << Remark::Arg("reason", unsampled);
  }
}
