//===- OpTable.cpp - The table of ATen ops --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace luminal;
using namespace luminal::pt2;
using llvm::StringRef;

/// Parses a parameter's type: "int[2]?" and "SymInt[]" are IntList;
/// "Tensor(a!)" is Tensor.
static Parameter parseType(StringRef text) {
  Parameter p;
  p.optional = text.consume_back("?");
  bool list = text.ends_with("]");
  if (list)
    text = text.substr(0, text.rfind('['));
  if (list && text.consume_back("?")) {
    p.type = Parameter::OptionalTensorList;
    return p;
  }
  text = text.split('(').first;
  p.symbolic = text == "SymInt";
  p.type =
      llvm::StringSwitch<Parameter::Type>(text)
          .Case("Tensor", list ? Parameter::TensorList : Parameter::Tensor)
          .Cases({"int", "SymInt"}, list ? Parameter::IntList : Parameter::Int)
          .Case("float", Parameter::Float)
          .Case("FloatList", Parameter::FloatList)
          .Case("Scalar", Parameter::Scalar)
          .Case("bool", list ? Parameter::BoolList : Parameter::Bool)
          .Case("str", Parameter::String)
          .Case("ScalarType", Parameter::ScalarType)
          .Case("Device", Parameter::Device)
          .Case("Layout", Parameter::Layout)
          .Case("MemoryFormat", Parameter::MemoryFormat)
          .Case("Generator", Parameter::Generator)
          .Default(static_cast<Parameter::Type>(-1));
  if (static_cast<int>(p.type) == -1)
    llvm::report_fatal_error("unknown type in the schema of an op");
  return p;
}

/// Parses the default value of a parameter in a schema.
static Argument parseDefault(StringRef text, const Parameter &p) {
  Argument arg;
  int64_t integer;
  double real;
  if (text == "None")
    return arg;
  if (p.type == Parameter::ScalarType && !text.getAsInteger(10, integer)) {
    // PyTorch numbers its dtypes from 0, archives from 1.
    arg.kind = Argument::ScalarType;
    arg.exprs.push_back(Expr(integer + 1));
  } else if (text == "True" || text == "False") {
    arg.kind = Argument::Bool;
    arg.exprs.push_back(Expr(text == "True"));
  } else if (p.type == Parameter::IntList) {
    arg.kind = Argument::Ints;
    text.consume_front("[");
    text.consume_back("]");
    llvm::SmallVector<StringRef> items;
    text.split(items, ',', -1, /*KeepEmpty=*/false);
    for (StringRef item : items)
      if (!item.trim().getAsInteger(10, integer))
        arg.exprs.push_back(Expr(integer));
  } else if (p.type == Parameter::String || p.type == Parameter::MemoryFormat) {
    arg.kind = Argument::String;
    arg.names.push_back(text.str());
  } else if (p.type != Parameter::Float && !text.getAsInteger(10, integer)) {
    arg.kind = Argument::Int;
    arg.exprs.push_back(Expr(integer));
  } else if (!text.getAsDouble(real)) {
    arg.kind = Argument::Float;
    arg.doubles.push_back(real);
  } else {
    llvm::report_fatal_error("unknown default in the schema of an op");
  }
  return arg;
}

/// Parses the schema of a row.
static OpEntry parseSchema(const OpRow &row) {
  OpEntry entry;
  entry.handler = row.handler;
  auto [name, rest] = StringRef(row.schema).split('(');
  entry.name = name.str();
  if (!name.contains('.'))
    entry.name += ".default";
  rest.consume_back(")");
  while (!rest.empty()) {
    // Commas inside a default's brackets do not separate parameters.
    size_t end = 0;
    for (int depth = 0; end < rest.size(); ++end) {
      char c = rest[end];
      depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
      if (c == ',' && depth == 0)
        break;
    }
    StringRef item = rest.substr(0, end).trim();
    rest = rest.substr(std::min(end + 1, rest.size()));
    if (item == "*")
      continue;
    auto [type, declaration] = item.split(' ');
    Parameter p = parseType(type);
    auto [parameterName, defaultText] = declaration.split('=');
    p.name = parameterName.str();
    p.hasDefault = declaration.contains('=');
    if (p.hasDefault)
      p.defaultValue = parseDefault(defaultText, p);
    entry.parameters.push_back(std::move(p));
  }
  return entry;
}

/// Other names of ops in the table, with the same overloads and schemas.
static constexpr std::pair<StringRef, StringRef> kAliases[] = {
    {"absolute", "abs"},
    {"arccos", "acos"},
    {"arccosh", "acosh"},
    {"arcsin", "asin"},
    {"arcsinh", "asinh"},
    {"arctan", "atan"},
    {"arctan2", "atan2"},
    {"arctanh", "atanh"},
    {"clip", "clamp"},
    {"concat", "cat"},
    {"concatenate", "cat"},
    {"conj", "alias"},
    {"conj_physical", "positive"},
    {"divide", "div"},
    {"fix", "trunc"},
    {"ger", "outer"},
    {"greater", "gt"},
    {"greater_equal", "ge"},
    {"less", "lt"},
    {"less_equal", "le"},
    {"linalg_matrix_power", "matrix_power"},
    {"moveaxis", "movedim"},
    {"multiply", "mul"},
    {"negative", "neg"},
    {"not_equal", "ne"},
    {"resolve_conj", "alias"},
    {"resolve_neg", "alias"},
    {"row_stack", "vstack"},
    {"special_digamma", "digamma"},
    {"special_gammaln", "lgamma"},
    {"special_erf", "erf"},
    {"special_erfc", "erfc"},
    {"special_erfinv", "erfinv"},
    {"special_exp2", "exp2"},
    {"special_expit", "sigmoid"},
    {"special_expm1", "expm1"},
    {"special_log1p", "log1p"},
    {"special_logit", "logit"},
    {"special_i0", "i0"},
    {"special_logsumexp", "logsumexp"},
    {"special_psi", "digamma"},
    {"special_sinc", "sinc"},
    {"special_xlogy", "xlogy"},
    {"subtract", "sub"},
    {"trapz", "trapezoid"},
    {"true_divide", "div"},
    {"unsafe_chunk", "chunk"},
    {"unsafe_split", "split"},
    {"unsafe_split_with_sizes", "split_with_sizes"},
};

/// All entries by name; parsed on first use.
static const llvm::StringMap<OpEntry> &getTable() {
  static const llvm::StringMap<OpEntry> table = [] {
    llvm::StringMap<OpEntry> map;
    for (auto rows :
         {getPointwiseOps(), getMathOps(),        getBitsOps(),
          getCompareOps(),   getMovementOps(),    getCreationOps(),
          getJoinOps(),      getReductionOps(),   getScanOps(),
          getProductOps(),   getConvolutionOps(), getPoolingOps(),
          getResampleOps(),  getRecurrentOps(),   getQuantizeOps(),
          getNormOps(),      getLossOps(),        getIndexOps(),
          getSearchOps(),    getSortOps(),        getTransformerOps(),
          getCalculusOps(),  getSpecialOps(),     getMetaOps()})
      for (const OpRow &row : rows) {
        OpEntry entry = parseSchema(row);
        std::string key = entry.name;
        if (!StringRef(key).contains("::"))
          key = "aten." + key;
        else
          key.replace(key.find("::"), 2, ".");
        if (!map.try_emplace(key, std::move(entry)).second)
          llvm::report_fatal_error("an op appears twice in the table");
      }
    return map;
  }();
  return table;
}

std::vector<std::string> pt2::getTargets() {
  std::vector<std::string> targets;
  for (StringRef target : getTable().keys())
    targets.push_back(target.str());
  llvm::sort(targets);
  return targets;
}

const OpEntry *pt2::findOp(StringRef target) {
  const llvm::StringMap<OpEntry> &table = getTable();
  auto it = table.find(target);
  if (it != table.end())
    return &it->second;
  StringRef name = target;
  if (!name.consume_front("aten."))
    return nullptr;
  auto [op, overload] = name.split('.');
  for (auto [alias, canonical] : kAliases)
    if (op == alias)
      return findOp(("aten." + canonical + "." + overload).str());
  // A view op whose result is a copy.
  if (op.consume_back("_copy"))
    return findOp(("aten." + op + "." + overload).str());
  return nullptr;
}

StringRef pt2::getRefusal(StringRef target) {
  StringRef op = target;
  if (!op.consume_front("aten."))
    return {};
  op = op.split('.').first;
  op.consume_back("_");
  for (StringRef random : {"rand",
                           "randn",
                           "randint",
                           "rand_like",
                           "randn_like",
                           "randint_like",
                           "randperm",
                           "bernoulli",
                           "multinomial",
                           "normal",
                           "normal_functional",
                           "uniform",
                           "alpha_dropout",
                           "feature_dropout",
                           "feature_alpha_dropout",
                           "exponential",
                           "geometric",
                           "cauchy",
                           "log_normal",
                           "random",
                           "poisson",
                           "rrelu",
                           "rrelu_with_noise",
                           "rrelu_with_noise_functional",
                           "binomial",
                           "_standard_gamma",
                           "_sample_dirichlet",
                           "_fused_dropout",
                           "_fill_mem_eff_dropout_mask",
                           "_cudnn_init_dropout_state"})
    if (op == random)
      return "draws random numbers";
  for (StringRef dynamic :
       {"nonzero", "masked_select", "unique", "_unique2", "unique_dim",
        "unique_consecutive", "item", "_local_scalar_dense", "bincount",
        "argwhere", "nonzero_numpy"})
    if (op == dynamic)
      return "has a result whose shape or value is known only at run time";
  return {};
}
