//===- RandomProgram.cpp - Random programs of flat LLIR -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomProgram.h"
#include "RandomGenerator.h"

using namespace luminal;
using namespace luminal::test;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string test::typeText(const Shape &shape, std::string_view element) {
  std::string text = "tensor<", dims;
  for (const Expr &e : shape) {
    text += e.asConstant() ? e.str() + "x" : "?x";
    if (!e.asConstant())
      dims += (dims.empty() ? "" : ", ") + e.str();
  }
  text += element;
  return text + (dims.empty() ? ">" : ", #hlir.dims<" + dims + ">>");
}

static std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string test::mapText(size_t rank, const Shape &results) {
  std::vector<std::string> dims, texts;
  for (size_t i = 0; i < rank; ++i)
    dims.push_back("d" + std::to_string(i));
  for (const Expr &e : results)
    texts.push_back(e.str());
  return "<(" + joined(dims) + ") -> (" + joined(texts) + ")>";
}

std::string test::getType(const Node &n) {
  return typeText(n.shape, dtypeName(n.dtype));
}

bool test::isFloat(DType t) {
  return t == DType::F32 || t == DType::F16 || t == DType::BF16 ||
         t == DType::F64;
}

std::string RandomProgram::getFunction(const std::vector<unsigned> &returned,
                                       bool isBound) const {
  std::vector<bool> isNeeded(nodes.size());
  for (unsigned r : returned)
    isNeeded[r] = true;
  for (size_t i = nodes.size(); i-- > 0;)
    if (isNeeded[i])
      for (unsigned operand : nodes[i].operands)
        isNeeded[operand] = true;
  std::vector<std::string> arguments, table, names, types;
  std::string body;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node &n = nodes[i];
    std::string name = "%v" + std::to_string(i), type = getType(n);
    if (n.isArgument)
      arguments.push_back(name + ": " + type);
    else if (isNeeded[i])
      body += "  " + name + " = " + n.text + "\n";
    if (!isBound || !isNeeded[i] || !isFloat(n.dtype))
      continue;
    body += "  %f" + std::to_string(i) + " = llir.elementwise cast(" + name +
            ") : (" + type + ") -> " + typeText(n.shape, "f64") + "\n" +
            n.bound;
  }
  for (const auto &[name, range] : symbols) {
    arguments.push_back("%" + name + ": " +
                        typeText({Expr::symbol(name)}, "f32"));
    table.push_back(name + " in [" + std::to_string(range.lo) + ", " +
                    (range.hi ? std::to_string(*range.hi) : "") + "]");
  }
  for (unsigned r : returned) {
    if (isBound && nodes[r].isExact)
      continue;
    names.push_back((isBound ? "%e" : "%v") + std::to_string(r));
    types.push_back(isBound ? typeText(nodes[r].shape, "f64")
                            : getType(nodes[r]));
  }
  std::string results = joined(types);
  return "func.func @main(" + joined(arguments) + ") -> (" + results + ")" +
         (table.empty() ? ""
                        : " attributes {hlir.symbols = #hlir.symbols<" +
                              joined(table) + ">}") +
         " {\n" + body + "  return " + joined(names) +
         (names.empty() ? "" : " : " + results) + "\n}\n";
}

std::string
RandomProgram::getText(const std::vector<unsigned> &returned) const {
  return getFunction(returned, /*isBound=*/false);
}

std::string
RandomProgram::getBoundText(const std::vector<unsigned> &returned) const {
  return getFunction(returned, /*isBound=*/true);
}
