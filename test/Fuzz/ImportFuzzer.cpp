//===- ImportFuzzer.cpp - Any graph of ATen ops as an archive -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes choose ops from the whole table and an argument for each parameter:
// mostly as the schema requires, of any dtype, rank and extent, and sometimes
// of another kind, None, left out, or without a name. The program is imported
// from an archive. It is verified IR, or refused by exactly one error of the
// importer; an op that fails verification is a bug.
//
// With LUMINAL_FUZZ_ARCHIVE=FILE each program is also written there, so that a
// crash can be reproduced with luminal-translate.
//
//===----------------------------------------------------------------------===//

#include "Aten/OpTable.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Target/PT2.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include <fuzzer/FuzzedDataProvider.h>

using namespace mlir;
using namespace luminal;
namespace json = llvm::json;
using json::Array;
using json::Object;

//===----------------------------------------------------------------------===//
// Archives
//===----------------------------------------------------------------------===//

/// A zip file of one stored member.
static std::string packed(StringRef name, StringRef content) {
  std::string out;
  auto put = [&](std::initializer_list<std::pair<uint32_t, unsigned>> fields) {
    for (auto [value, size] : fields)
      for (unsigned i = 0; i < size; ++i)
        out += static_cast<char>(value >> (8 * i));
  };
  uint32_t size = content.size(),
           crc = llvm::crc32(llvm::arrayRefFromStringRef(content));
  auto about = [&] {
    put({{0, 4}, {0, 2}, {0x21, 2}, {crc, 4}, {size, 4}, {size, 4}});
    put({{uint32_t(name.size()), 2}, {0, 2}});
  };
  put({{0x04034b50, 4}, {20, 2}});
  about();
  out += name;
  out += content;
  uint32_t directory = out.size();
  put({{0x02014b50, 4}, {20, 2}, {20, 2}});
  about();
  put({{0, 2}, {0, 2}, {0, 2}, {0, 4}, {0, 4}});
  out += name;
  uint32_t end = out.size();
  put({{0x06054b50, 4}, {0, 4}, {1, 2}, {1, 2}, {end - directory, 4}});
  put({{directory, 4}, {0, 2}});
  return out;
}

static Object tensorOf(StringRef name) {
  return Object{{"as_tensor", Object{{"name", name.str()}}}};
}

/// Extents as text: a number, or an expression of s (0 to 9) and t (2 to 64).
static json::Value extentOf(StringRef text) {
  int64_t value;
  if (!text.getAsInteger(10, value))
    return Object{{"as_int", value}};
  return Object{{"as_expr", Object{{"expr_str", text.str()}}}};
}
static constexpr StringRef kS = "Symbol('s', integer=True)",
                           kT = "Symbol('t', integer=True)";

static Object metaOf(int64_t dtype, ArrayRef<StringRef> extents) {
  Array sizes, strides;
  int64_t stride = 1;
  for (StringRef extent : llvm::reverse(extents)) {
    sizes.insert(sizes.begin(), extentOf(extent));
    strides.insert(strides.begin(), Object{{"as_int", stride}});
    int64_t value = 1;
    stride *= extent.getAsInteger(10, value) ? 7 : std::max<int64_t>(value, 1);
  }
  return Object{{"dtype", dtype},
                {"sizes", std::move(sizes)},
                {"strides", std::move(strides)},
                {"storage_offset", Object{{"as_int", 0}}},
                {"layout", 7}};
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {
struct Input {
  int64_t dtype;
  std::vector<StringRef> extents;
};
/// u8 1, i8 2, i32 4, i64 5, f16 6, f32 7, f64 8, bool 12, bf16 13, f8 29, 30.
const Input kInputs[] = {{7, {"2", "3", "8", "8"}},
                         {7, {"2", "3", kT, kT}},
                         {7, {"1", "3", kS, "9"}},
                         {7, {"3", "3", "3", "3"}},
                         {7, {"3"}},
                         {7, {}},
                         {7, {"2", "3"}},
                         {7, {kS}},
                         {7, {kT, "4"}},
                         {7, {"0", "3"}},
                         {7, {"2", "3", "4"}},
                         {7, {"1", "2", "5", "5", "5"}},
                         {6, {"2", "3", "4", "4"}},
                         {13, {"2", "1", "4"}},
                         {8, {"3", "3"}},
                         {8, {"2", "3", "8", "8"}},
                         {5, {"3"}},
                         {5, {"2", "3"}},
                         {5, {}},
                         {5, {kS}},
                         {4, {kT, "2"}},
                         {4, {"3"}},
                         {12, {"2", "3"}},
                         {12, {}},
                         {1, {"4"}},
                         {2, {"3"}},
                         {29, {"2", "2"}},
                         {7, {"4", "4"}},
                         {7, {"4"}},
                         {7, {"2", "4", "6", "8"}},
                         {7, {"2", "2", "6", "8"}},
                         {5, {"2", "3", "8", "8"}}};

constexpr int64_t kIntegers[] = {0,
                                 1,
                                 -1,
                                 2,
                                 3,
                                 -2,
                                 4,
                                 -3,
                                 5,
                                 7,
                                 16,
                                 64,
                                 100,
                                 4096,
                                 INT32_MAX,
                                 INT64_C(1) << 40,
                                 INT64_C(1) << 62,
                                 INT64_MAX,
                                 INT64_MIN,
                                 -INT64_MAX};
constexpr double kReals[] = {0, 1, 0.5, 2, -1, 1e-5, 0.1, 1e300, INFINITY, NAN};
constexpr StringRef kStrings[] = {
    "",          "none",     "tanh",      "floor",
    "trunc",     "constant", "reflect",   "replicate",
    "circular",  "same",     "valid",     "ij",
    "xy",        "left",     "right",     "sum",
    "mean",      "amax",     "amin",      "prod",
    "ij,jk->ik", "ii->i",    "...i,...j", "bhid,bhjd->bhij",
    "i,j,k->",   "ab->ba",   "mean ",     "->"};

class Generator {
public:
  Generator(const uint8_t *data, size_t size) : bytes(data, size) {}

  std::string run() {
    Array inputs, specs;
    for (auto [i, input] : llvm::enumerate(kInputs)) {
      std::string name = "x" + std::to_string(i);
      names.push_back(name);
      values[name] = metaOf(input.dtype, input.extents);
      inputs.push_back(tensorOf(name));
      specs.push_back(Object{{"user_input", Object{{"arg", tensorOf(name)}}}});
    }
    Array nodes;
    unsigned count = bytes.ConsumeIntegralInRange<unsigned>(1, 6);
    for (unsigned i = 0; i < count; ++i)
      nodes.push_back(node());
    Array outputs;
    for (const std::string &name : made)
      outputs.push_back(
          Object{{"user_output", Object{{"arg", tensorOf(name)}}}});
    Object integers{
        {"n", extentOf(kS)},
        {"m", extentOf(kT)},
        {"h", extentOf(("FloorDiv(" + kT + ", Integer(2))").str())}};
    Object program{
        {"graph_module",
         Object{{"graph", Object{{"inputs", std::move(inputs)},
                                 {"outputs", Array()},
                                 {"nodes", std::move(nodes)},
                                 {"tensor_values", std::move(values)},
                                 {"sym_int_values", std::move(integers)}}},
                {"signature", Object{{"input_specs", std::move(specs)},
                                     {"output_specs", std::move(outputs)}}}}},
        {"range_constraints",
         Object{{"s", Object{{"min_val", 0}, {"max_val", 9}}},
                {"t", Object{{"min_val", 2}, {"max_val", 64}}}}},
        {"schema_version", Object{{"major", 8}, {"minor", 20}}}};
    std::string text;
    llvm::raw_string_ostream(text) << json::Value(std::move(program));
    return text;
  }

private:
  template <typename T, size_t n>
  const T &pick(const T (&items)[n]) {
    return items[bytes.ConsumeIntegralInRange<size_t>(0, n - 1)];
  }
  /// True in `of` of 256 cases; never where no bytes are left.
  bool chance(unsigned of) {
    return bytes.ConsumeIntegral<uint8_t>() >= 256 - of;
  }

  std::string tensorName() {
    if (chance(4))
      return chance(128) ? "" : "nowhere";
    // Results of ops as often as inputs.
    if (!made.empty() && chance(96))
      return made[bytes.ConsumeIntegralInRange<size_t>(0, made.size() - 1)];
    return names[bytes.ConsumeIntegralInRange<size_t>(0, names.size() - 1)];
  }
  Object tensorNames(StringRef tag) {
    Array list;
    for (unsigned n = bytes.ConsumeIntegralInRange<unsigned>(0, 4); n; --n) {
      Object name{{"name", tensorName()}};
      if (tag != "as_optional_tensors")
        list.push_back(std::move(name));
      else if (chance(64))
        list.push_back(Object{{"as_none", true}});
      else
        list.push_back(Object{{"as_tensor", std::move(name)}});
    }
    return Object{{tag, std::move(list)}};
  }
  int64_t integer() {
    return chance(24) ? bytes.ConsumeIntegral<int64_t>() : pick(kIntegers);
  }
  /// Small ones, as most lists hold.
  int64_t small() {
    return chance(24) ? integer()
                      : bytes.ConsumeIntegralInRange<int64_t>(-2, 5);
  }
  Object symbolic(StringRef name) { return Object{{"as_name", name}}; }
  Object anyInteger(bool maySymbolic) {
    static constexpr StringRef symbols[] = {"n", "m", "h", "nothing"};
    if (maySymbolic && chance(64))
      return Object{{"as_sym_int", symbolic(pick(symbols))}};
    return Object{{"as_int", chance(128) ? small() : integer()}};
  }
  Object integers(bool maySymbolic) {
    static constexpr StringRef symbols[] = {"n", "m", "h", "n"};
    bool isSymbolic = maySymbolic && chance(96);
    Array list;
    for (unsigned n = bytes.ConsumeIntegralInRange<unsigned>(0, 6); n; --n) {
      if (isSymbolic && chance(96))
        list.push_back(symbolic(pick(symbols)));
      else if (isSymbolic)
        list.push_back(Object{{"as_int", small()}});
      else
        list.push_back(small());
    }
    return Object{{isSymbolic ? "as_sym_ints" : "as_ints", std::move(list)}};
  }
  Object real() {
    double value = pick(kReals);
    if (std::isfinite(value))
      return Object{{"as_float", value}};
    return Object{{"as_float", std::isnan(value) ? "NaN" : "Infinity"}};
  }

  Object argument(pt2::Parameter::Type type, bool maySymbolic) {
    using P = pt2::Parameter;
    switch (type) {
    case P::Tensor:
      if (!chance(16))
        return tensorOf(tensorName());
      [[fallthrough]];
    case P::Scalar:
      if (chance(96))
        return real();
      if (chance(32))
        return Object{{"as_bool", true}};
      return anyInteger(true);
    case P::TensorList:
      return tensorNames("as_tensors");
    case P::OptionalTensorList:
      return tensorNames(chance(64) ? "as_tensors" : "as_optional_tensors");
    case P::Int:
      return anyInteger(maySymbolic || chance(8));
    case P::IntList:
      return integers(maySymbolic || chance(8));
    case P::Float:
      return chance(64) ? anyInteger(chance(16)) : real();
    case P::FloatList: {
      Array list;
      for (unsigned n = bytes.ConsumeIntegralInRange<unsigned>(0, 4); n; --n)
        list.push_back(0.5 * static_cast<double>(small()));
      return Object{{"as_floats", std::move(list)}};
    }
    case P::Bool:
      return Object{{"as_bool", chance(128)}};
    case P::BoolList:
      return Object{{"as_bools", Array{true, false}}};
    case P::String:
      return Object{{"as_string", pick(kStrings)}};
    case P::ScalarType:
      return Object{{"as_scalar_type",
                     chance(16)
                         ? integer()
                         : bytes.ConsumeIntegralInRange<int64_t>(0, 14)}};
    case P::Device:
      return Object{{"as_device", Object{{"type", "cpu"}}}};
    case P::Layout:
      return Object{{"as_layout", chance(16) ? 1 : 7}};
    case P::MemoryFormat:
      return Object{{"as_memory_format", 1}};
    case P::Generator:
      return Object{{"as_none", true}};
    }
    llvm_unreachable("a kind of parameter");
  }

  json::Value node() {
    static const std::vector<std::string> targets = pt2::getTargets();
    std::string target =
        targets[bytes.ConsumeIntegralInRange<size_t>(0, targets.size() - 1)];
    const pt2::OpEntry &entry = *pt2::findOp(target);
    Array inputs;
    for (const pt2::Parameter &p : entry.parameters) {
      if ((p.hasDefault && chance(96)) || chance(2))
        continue;
      pt2::Parameter::Type type = p.type;
      if (chance(4))
        type = static_cast<pt2::Parameter::Type>(
            bytes.ConsumeIntegralInRange<int>(0, pt2::Parameter::Generator));
      Object value = chance(p.optional ? 64 : 2) ? Object{{"as_none", true}}
                                                 : argument(type, p.symbolic);
      inputs.push_back(Object{{"name", p.name}, {"arg", std::move(value)}});
    }
    Array outputs;
    std::vector<std::string> results;
    auto result = [&] {
      results.push_back(chance(2) ? "" : "t" + std::to_string(++last));
      if (chance(24)) {
        static constexpr StringRef extents[] = {"2", "3", "0", "1", kS, kT};
        SmallVector<StringRef> shape;
        for (unsigned n = bytes.ConsumeIntegralInRange<unsigned>(0, 4); n; --n)
          shape.push_back(pick(extents));
        values[results.back()] =
            metaOf(bytes.ConsumeIntegralInRange<int64_t>(4, 8), shape);
      }
      return Object{{"name", results.back()}};
    };
    if (chance(24)) {
      Array list;
      for (unsigned n = bytes.ConsumeIntegralInRange<unsigned>(0, 4); n; --n)
        list.push_back(result());
      outputs.push_back(Object{{"as_tensors", std::move(list)}});
    } else {
      unsigned n =
          chance(64) ? bytes.ConsumeIntegralInRange<unsigned>(0, 4) : 1;
      for (; n; --n)
        outputs.push_back(Object{{"as_tensor", result()}});
    }
    made.insert(made.end(), results.begin(), results.end());
    if (chance(16)) {
      auto [name, overload] = StringRef(target).rsplit('.');
      target = (name + "_." + overload).str();
    }
    return Object{{"target", "torch.ops." + target},
                  {"inputs", std::move(inputs)},
                  {"outputs", std::move(outputs)}};
  }

  FuzzedDataProvider bytes;
  std::vector<std::string> names, made;
  Object values;
  unsigned last = 0;
};
} // namespace

/// One error, and by the importer: ops are refused by name, not by the verifier
/// of what was built for them.
static void judge(bool imported, ArrayRef<std::string> errors) {
  bool ok = imported ? errors.empty() : errors.size() == 1;
  for (StringRef error : errors)
    ok &= !error.starts_with("'");
  if (ok)
    return;
  for (StringRef error : errors)
    llvm::errs() << error << '\n';
  llvm::errs() << (imported ? "imported" : "refused") << " with "
               << errors.size() << " errors\n";
  __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Types and attributes live as long as the context: a new one for each input
  // would be slow, one for all would grow.
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (!context || ++uses % 2000 == 0) {
    context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
    context->loadDialect<func::FuncDialect, hlir::HLIRDialect>();
    context->printOpOnDiagnostic(false);
  }
  auto archive = std::make_shared<std::string>(
      packed("serialized_exported_program.json", Generator(data, size).run()));
  if (const char *file = std::getenv("LUMINAL_FUZZ_ARCHIVE")) {
    std::error_code error;
    llvm::raw_fd_ostream(file, error) << *archive;
  }
  SmallVector<std::string> errors;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error)
      errors.push_back(d.str());
    return success();
  });
  Bytes bytes;
  bytes.data = reinterpret_cast<const uint8_t *>(archive->data());
  bytes.size = archive->size();
  bytes.owner = archive;
  OwningOpRef<ModuleOp> module = importPT2(context.get(), bytes, "fuzz.pt2");
  judge(static_cast<bool>(module), errors);
  return 0;
}
