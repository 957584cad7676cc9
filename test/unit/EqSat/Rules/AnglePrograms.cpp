//===- AnglePrograms.cpp - Inverse trigonometric functions and bits -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RulePrograms.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::test;

std::vector<RuleProgram> luminal::test::anglePrograms() {
  std::vector<RuleProgram> list;
  std::pair<const char *, Value (hlir::Composer::*)(Value)> angles[] = {
      {"atan", &hlir::Composer::atan},
      {"asin", &hlir::Composer::asin},
      {"acos", &hlir::Composer::acos}};
  for (const char *type : {"f16", "bf16", "f32", "f64"})
    for (auto [fn, method] : angles) {
      auto build = [method](hlir::Composer &c, ArrayRef<Value> v) {
        return (c.*method)(v[0]);
      };
      list.push_back({fn + std::string(" spelled in ") + type,
                      {{{"60"}, "f32"}},
                      build,
                      std::nullopt,
                      type});
      for (std::vector<std::string> shape :
           {std::vector<std::string>{"40"}, {"s0", "7"}})
        list.push_back(
            {fn + std::string(" of ") + type, {{shape, type}}, build, {{fn}}});
    }
  std::pair<const char *, Value (hlir::Composer::*)(Value, Value)> bits[] = {
      {"bit_and", &hlir::Composer::bitAnd},
      {"bit_or", &hlir::Composer::bitOr},
      {"bit_xor", &hlir::Composer::bitXor},
      {"shift_left", &hlir::Composer::shiftLeft},
      {"shift_right", &hlir::Composer::shiftRight}};
  for (const char *type : {"i32", "i64"})
    for (auto [fn, method] : bits)
      for (std::vector<std::string> shape :
           {std::vector<std::string>{"200"}, {"s0", "7"}})
        list.push_back({fn + std::string(" of ") + type,
                        {{shape, type}, {shape, type}},
                        [method](hlir::Composer &c, ArrayRef<Value> v) {
                          return (c.*method)(v[0], v[1]);
                        },
                        {{fn}}});
  return list;
}
