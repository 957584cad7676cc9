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

/// By the compute capability; what all from 8.0 on have stands for others.
static int64_t getSharedBytes(std::string_view arch) {
  static constexpr std::pair<std::string_view, int64_t> kKibibytes[] = {
      {"sm_80", 163},
      {"sm_87", 163},
      {"sm_90", 227},
      {"sm_100", 227},
      {"sm_103", 227}};
  for (auto [name, count] : kKibibytes)
    if (arch.substr(0, arch.find_first_of("af", 3)) == name)
      return count << 10;
  return MachineModel::getGPUThread().sharedBytes;
}

MachineModel MachineModel::getGPU(std::string_view arch) {
  MachineModel machine = getGPUThread();
  machine.sharedBytes = getSharedBytes(arch);
  // Only of the architecture by itself, with no promise to those after it.
  machine.hasWarpGroups = arch == "sm_90a";
  // Measured on an H100 in graphs of products: 2048 x 4096 x 4096 in bf16, 4096
  // cubed in f32, 1024 cubed in f64; steps with 4 to 128 rows.
  machine.products.kernels = {113e3, 16.2e3, 17e3};
  machine.products.staged = machine.products.kernels;
  machine.products.library = {360e3, 25.6e3, 26e3};
  machine.products.step = {6, 32, 50};
  machine.products.launchTime = 2000;
  machine.products.libraryTime = 3500;
  // Hopper's for servers: of an H100, and of the slower memory of the two.
  if (arch.substr(0, 5) == "sm_90") {
    machine.workers = 132;
    machine.sharedReadRate = 3000;
  }
  // By wgmma on an H200: 4096 x 768 x 768 to 2048 x 4096 x 4096 took 1.15
  // to 1.45 of the library's time.
  if (machine.hasWarpGroups)
    machine.products.staged.f16 = 270e3;
  return machine;
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
