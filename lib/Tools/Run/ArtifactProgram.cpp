//===- ArtifactProgram.cpp - Runs an artifact by the runtime --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Run/ArtifactProgram.h"
#include <cstring>
#include <nlohmann/json.hpp>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::tools;

Result<std::unique_ptr<ArtifactProgram>>
ArtifactProgram::create(std::shared_ptr<const Artifact> artifact,
                        const ContextOptions &options) {
  std::unique_ptr<ArtifactProgram> program(new ArtifactProgram);
  LUMINAL_TRY(context, Context::create(artifact, options));
  program->context = std::move(context);
  const Manifest &m = artifact->getManifest();
  for (uint32_t i : artifact->getUserInputs())
    program->inputs.push_back(
        {m.inputs[i].name, m.inputs[i].dtype, typeText(m.inputs[i])});
  for (const IntegerInput &integer : m.integers)
    program->inputs.push_back({integer.name, DType::I64, "i64[]", true});
  for (uint32_t i : artifact->getUserOutputs())
    program->outputPorts.push_back(
        {m.outputs[i].name, m.outputs[i].dtype, typeText(m.outputs[i])});
  program->artifact = std::move(artifact);
  return program;
}

Result<int64_t> tools::getInteger(const HostTensor &tensor) {
  if (tensor.dtype != DType::I64 || !tensor.shape.empty())
    return Error("integer '" + tensor.name + "': is " + typeText(tensor) +
                 ", expected i64[]");
  int64_t value;
  std::memcpy(&value, tensor.bytes.data, sizeof value);
  return value;
}

Status ArtifactProgram::bind(std::vector<HostTensor> tensors) {
  const std::vector<uint32_t> &indices = artifact->getUserInputs();
  for (size_t k = 0; k < indices.size(); ++k) {
    HostTensor &tensor = tensors[k];
    if (artifact->getManifest().inputs[indices[k]].state) {
      // Calls write to states, but files are mapped read-only.
      HostTensor copy{tensor.name, tensor.dtype, tensor.shape, {}};
      uint8_t *memory = allocateTensor(copy);
      if (!memory)
        return Error("out of memory for the state '" + inputs[k].name + "'");
      if (tensor.bytes.size > 0)
        std::memcpy(memory, tensor.bytes.data, tensor.bytes.size);
      tensor = std::move(copy);
    }
    LUMINAL_CHECK(context->bindInput(indices[k], tensor.bytes.data,
                                     tensor.dtype, tensor.shape));
  }
  for (size_t k = indices.size(); k < inputs.size(); ++k) {
    LUMINAL_TRY(value, getInteger(tensors[k]));
    LUMINAL_CHECK(
        context->bindInteger(static_cast<uint32_t>(k - indices.size()), value));
  }
  bound = std::move(tensors);
  return {};
}

Result<std::optional<double>> ArtifactProgram::timeSteps(unsigned repeats) {
  if (artifact->getDevice()->sharesMemory())
    return std::optional<double>();
  LUMINAL_TRY(nanoseconds, context->timeSteps(repeats));
  return std::optional(nanoseconds * 1e-6);
}

Result<std::vector<HostTensor>> ArtifactProgram::outputs() {
  std::vector<HostTensor> tensors;
  const std::vector<uint32_t> &indices = artifact->getUserOutputs();
  for (size_t k = 0; k < indices.size(); ++k) {
    std::span<const int64_t> shape = context->getOutputShape(indices[k]);
    HostTensor tensor{outputPorts[k].name,
                      outputPorts[k].dtype,
                      {shape.begin(), shape.end()},
                      {}};
    LUMINAL_TRY(data, context->getOutputData(indices[k]));
    tensor.bytes.data = static_cast<const uint8_t *>(data);
    tensor.bytes.size =
        static_cast<uint64_t>(*tensorBytes(tensor.dtype, tensor.shape));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

std::string tools::describeArtifact(const Artifact &artifact, bool json) {
  const Manifest &m = artifact.getManifest();
  using Json = nlohmann::ordered_json;
  Json root;
  std::string text;
  auto add = [&](const char *list, const TensorSpec &spec,
                 const std::string &note) {
    Json shape = Json::array();
    for (const Expr &extent : spec.shape)
      shape.push_back(extent.str());
    Json entry{{"name", spec.name},
               {"dtype", std::string(dtypeName(spec.dtype))},
               {"shape", std::move(shape)}};
    if (!note.empty())
      entry["note"] = note;
    root[list].push_back(std::move(entry));
    text += "  " + spec.name + ": " + typeText(spec) +
            (note.empty() ? "" : "  (" + note + ")") + "\n";
  };
  const TargetSpec &target = m.target;
  root["artifact"] = artifact.getName();
  root["producer"] = m.producer;
  root["target"] = Json{{"kind", target.kind},
                        {"arch", target.arch},
                        {"cpu", target.cpu},
                        {"features", target.features}};
  text += artifact.getName() + ": made by Luminal " + m.producer + " for " +
          target.kind + " (" + target.arch +
          (target.cpu.empty() ? "" : ", " + target.cpu) + ")\n";
  root["symbols"] = Json::array();
  if (!m.symbols.empty())
    text += "symbols:\n";
  for (const SymbolSpec &symbol : m.symbols) {
    Json entry{{"name", symbol.name}, {"min", symbol.range.lo}};
    if (symbol.range.hi)
      entry["max"] = *symbol.range.hi;
    root["symbols"].push_back(std::move(entry));
    text +=
        "  " + symbol.name + " in [" + std::to_string(symbol.range.lo) + ", " +
        (symbol.range.hi ? std::to_string(*symbol.range.hi) : "inf") + "]\n";
  }
  root["inputs"] = Json::array();
  text += "inputs:\n";
  for (uint32_t i : artifact.getUserInputs())
    add("inputs", m.inputs[i], m.inputs[i].state ? "written by each call" : "");
  for (const IntegerInput &integer : m.integers) {
    root["integers"].push_back(
        Json{{"name", integer.name}, {"value", integer.value.str()}});
    text += "  " + integer.name + ": an integer, " + integer.value.str() + "\n";
  }
  root["outputs"] = Json::array();
  text += "outputs:\n";
  for (uint32_t i : artifact.getUserOutputs())
    add("outputs", m.outputs[i], "");
  root["states"] = Json::array();
  if (!artifact.getStates().empty())
    text += "states:\n";
  for (uint32_t i : artifact.getStates())
    add("states", m.inputs[i],
        "starts as " + m.weights[*m.inputs[i].initial].name);
  uint64_t bytes = 0;
  for (const WeightSpec &weight : m.weights)
    bytes += weight.bytes;
  root["weights"] = Json{{"count", m.weights.size()},
                         {"bytes", bytes},
                         {"embedded", m.weightsEmbedded},
                         {"digest", m.weightsDigest},
                         {"file", m.weightsFile}};
  root["steps"] = m.steps.size();
  root["arena_bytes"] = m.arenaBytes.str();
  uint64_t prepared = 0;
  if (m.prepare) {
    for (const OutputSpec &output : m.prepare->outputs)
      prepared += constantBytes(output).value_or(0);
    root["prepared"] = Json{{"steps", m.prepare->steps.size()},
                            {"bytes", prepared},
                            {"arena_bytes", m.prepare->arenaBytes.str()}};
  }
  text += "weights: " + std::to_string(m.weights.size()) + " of " +
          std::to_string(bytes) + " bytes" +
          (m.weightsEmbedded ? ", embedded" : "") +
          (m.weightsFile.empty() ? "" : ", from " + m.weightsFile) + "\n";
  if (m.prepare)
    text += "prepared from weights: " + std::to_string(prepared) +
            " bytes, in " + std::to_string(m.prepare->steps.size()) +
            " steps\n";
  text += "steps: " + std::to_string(m.steps.size()) +
          ", arena: " + m.arenaBytes.str() + " bytes\n";
  for (const std::shared_ptr<const Manifest> &variant : m.variants) {
    std::string guard = variant->getGuardText(m);
    root["variants"].push_back(
        Json{{"ranges", guard},
             {"steps", variant->steps.size()},
             {"arena_bytes", variant->arenaBytes.str()}});
    text += "variant for " + guard +
            ": steps: " + std::to_string(variant->steps.size()) +
            ", arena: " + variant->arenaBytes.str() + " bytes\n";
  }
  return json ? root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"
              : text;
}
