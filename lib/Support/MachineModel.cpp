//===- MachineModel.cpp - Models of machines as text ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/MachineModel.h"
#include <nlohmann/json.hpp>

using namespace luminal;

std::string MachineModel::str(int indent) const {
  nlohmann::ordered_json json;
  visitMachineFields(*this, [&](const char *name, const auto &field, double,
                                double) { json[name] = field; });
  return json.dump(indent);
}

Result<MachineModel> MachineModel::parse(const JsonRef &json) {
  MachineModel model;
  std::optional<Error> error;
  visitMachineFields(
      model, [&](const char *name, auto &field, double least, double greatest) {
        if (error)
          return;
        auto read = [&]() -> Status {
          LUMINAL_TRY(value, json.at(name));
          using Field = std::remove_reference_t<decltype(field)>;
          double number = 0;
          if constexpr (std::is_same_v<Field, bool>) {
            LUMINAL_TRY(flag, value.asBool());
            field = flag;
            number = flag;
          } else if constexpr (std::is_same_v<Field, double>) {
            LUMINAL_TRY(rate, value.asDouble());
            number = field = rate;
          } else {
            LUMINAL_TRY(integer, value.asInt());
            number = static_cast<double>(integer);
            if (number >= least && number <= greatest)
              field = static_cast<Field>(integer);
          }
          if (!(number >= least && number <= greatest))
            return value.error("is out of range");
          return {};
        };
        if (Status done = read(); !done)
          error = done.error();
      });
  if (error)
    return *error;
  return model;
}
