//===- Devices.cpp - What this machine can run on -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Run/Devices.h"
#include "luminal/Runtime/CpuFeatures.h"
#include "luminal/Runtime/Machine.h"
#include "luminal/Runtime/ThreadPool.h"
#include <nlohmann/json.hpp>

using namespace luminal;
using namespace luminal::runtime;

static std::string describeModel(const MachineModel &model) {
  char line[160];
  auto rate = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return std::string(text);
  };
  std::snprintf(line, sizeof line,
                "  vectors of %u bits (%u registers), caches of %lld and %lld "
                "KiB\n",
                model.vectorBits, model.vectorRegisters,
                static_cast<long long>(model.l1Bytes >> 10),
                static_cast<long long>(model.l2Bytes >> 10));
  std::string text = line;
  text += "  a worker reads " + rate(model.readRate) + " and copies " +
          rate(model.copyRate) + " GB/s, does " + rate(model.operationRate) +
          " f32 operations/ns\n  multiplies and adds at";
  for (auto [bits, value] :
       {std::pair(128, model.fmaRate128), std::pair(256, model.fmaRate256),
        std::pair(512, model.fmaRate512)})
    if (value > 0)
      text += " " + rate(value) + "/ns with " + std::to_string(bits) + " bits";
  return text + "\n  launches in " + rate(model.launchTime) +
         " ns, hands over in " + rate(model.handOverTime) + " ns, from " +
         std::to_string(model.grain) + " operations on\n";
}

std::string tools::describeDevices(const std::string &planCache, bool json) {
  auto found = readMachineModel(getMachineFile(planCache));
  std::string arch(hostArch());
  unsigned threads = availableThreads();
  if (json) {
    nlohmann::ordered_json device{
        {"kind", "cpu"}, {"arch", arch}, {"threads", threads}};
    device["machine"] = nullptr;
    if (found && *found)
      device["machine"] = nlohmann::ordered_json::parse((*found)->str());
    return nlohmann::ordered_json::array({device}).dump() + "\n";
  }
  std::string text =
      "cpu: " + arch + ", " + std::to_string(threads) + " threads\n";
  if (!found)
    return text + "  not measured: " + found.error().message + "\n";
  return text + (*found ? describeModel(**found)
                        : "  not measured (luminal-compile --calibrate)\n");
}
