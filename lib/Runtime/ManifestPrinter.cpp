//===- ManifestPrinter.cpp - Prints a manifest as JSON --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Manifest.h"
#include <nlohmann/json.hpp>

using namespace luminal;
using namespace luminal::runtime;
using Kind = BufferSpec::Kind;

using Json = nlohmann::ordered_json;

static Json print(const TensorSpec &tensor) {
  Json shape = Json::array();
  for (const Expr &extent : tensor.shape)
    shape.push_back(extent.str());
  Json json;
  json["name"] = tensor.name;
  json["dtype"] = std::string(dtypeName(tensor.dtype));
  json["shape"] = std::move(shape);
  return json;
}

static void printOutputs(Json &root, const Manifest &m) {
  root["outputs"] = Json::array();
  for (const OutputSpec &output : m.outputs) {
    Json json = print(output);
    json["buffer"] = output.buffer;
    if (output.updates)
      json["updates"] = *output.updates;
    if (output.assertion)
      json["assertion"] = *output.assertion;
    root["outputs"].push_back(std::move(json));
  }
}

/// Prints the buffers, the arena size and the steps.
static void printSchedule(Json &root, const Manifest &m) {
  root["buffers"] = Json::array();
  for (const BufferSpec &buffer : m.buffers) {
    Json json{{"kind", std::string(bufferKindName(buffer.kind))}};
    if (buffer.kind == Kind::Alias || buffer.kind == Kind::Prepared)
      json["of"] = buffer.of;
    if (buffer.kind == Kind::Alias || buffer.kind == Kind::Arena ||
        buffer.kind == Kind::Constant) {
      json["offset"] = buffer.offset.str();
      json["bytes"] = buffer.bytes.str();
    }
    if (buffer.kind == Kind::Counters)
      json["bytes"] = buffer.bytes.str();
    root["buffers"].push_back(std::move(json));
  }
  root["arena_bytes"] = m.arenaBytes.str();
  root["steps"] = Json::array();
  for (const StepSpec &step : m.steps) {
    Json json;
    if (!step.kernel.empty())
      json["kernel"] = step.kernel;
    json["name"] = step.name;
    if (!step.nodes.empty())
      json["nodes"] = step.nodes;
    json["buffers"] = step.buffers;
    json["results"] = step.results;
    if (step.workspace)
      json["workspace"] = step.workspace;
    if (std::string_view library = getLibraryName(step.launch);
        !library.empty())
      json["launch"]["library"] = std::string(library);
    visitFields(step.launch, [&](std::string_view name, const auto &field) {
      Json &value = json["launch"][std::string(name)];
      if constexpr (std::is_same_v<decltype(field), const Expr &>)
        value = field.str();
      else if constexpr (std::is_same_v<decltype(field), const DType &>)
        value = std::string(dtypeName(field));
      else if constexpr (std::is_same_v<decltype(field),
                                        const std::vector<Expr> &>)
        for (value = Json::array(); const Expr &e : field)
          value.push_back(e.str());
      else
        value = field;
    });
    json["traffic"] = step.traffic.str();
    json["flops"] = step.flops.str();
    root["steps"].push_back(std::move(json));
  }
}

static void printSymbols(Json &list, const std::vector<SymbolSpec> &symbols) {
  list = Json::array();
  for (const SymbolSpec &symbol : symbols) {
    Json json{{"name", symbol.name}, {"min", symbol.range.lo}};
    if (symbol.range.hi)
      json["max"] = *symbol.range.hi;
    list.push_back(std::move(json));
  }
}

static void printRequirements(Json &root, const Manifest &m) {
  root["requirements"] = Json::array();
  for (const Requirement &requirement : m.requirements) {
    Json space = Json::array();
    for (const Expr &extent : requirement.space)
      space.push_back(extent.str());
    root["requirements"].push_back(Json{{"what", requirement.what},
                                        {"lesser", requirement.lesser.str()},
                                        {"greater", requirement.greater.str()},
                                        {"space", std::move(space)}});
  }
}

/// Prints which weights a nested schedule (prepare or a variant) uses.
static void printUses(Json &json, const Manifest &m) {
  json["weights"] = Json::array();
  for (size_t i = 0; i < m.weights.size(); ++i)
    if (m.weights[i].buffer)
      json["weights"].push_back(
          Json{{"weight", i}, {"buffer", *m.weights[i].buffer}});
}

/// Prints a variant; fields that equal the program's are left out.
static Json printVariant(const Manifest &m, const Manifest &program) {
  Json json;
  std::vector<SymbolSpec> narrower;
  for (size_t i = 0; i < m.symbols.size(); ++i)
    if (m.symbols[i].range != program.symbols[i].range)
      narrower.push_back(m.symbols[i]);
  printSymbols(json["ranges"], narrower);
  printRequirements(json, m);
  json["inputs"] = Json::array();
  for (const InputSpec &input : m.inputs)
    json["inputs"].push_back(input.buffer);
  json["outputs"] = Json::array();
  for (const OutputSpec &output : m.outputs)
    json["outputs"].push_back(output.buffer);
  printUses(json, m);
  printSchedule(json, m);
  return json;
}

static Json printPrepare(const Manifest &m) {
  Json json;
  printUses(json, m);
  printOutputs(json, m);
  printSchedule(json, m);
  return json;
}

std::string Manifest::str() const {
  Json root;
  root["format"] = "luminal";
  root["version"] = kManifestVersion;
  root["producer"] = producer;
  root["target"] = Json{{"kind", target.kind}, {"arch", target.arch}};
  if (!target.cpu.empty())
    root["target"]["cpu"] = target.cpu;
  if (!target.features.empty())
    root["target"]["features"] = target.features;
  if (target.cubin)
    root["target"]["cubin"] = *target.cubin;
  printSymbols(root["symbols"], symbols);
  for (const IntegerInput &integer : integers)
    root["integers"].push_back(
        Json{{"name", integer.name}, {"value", integer.value.str()}});
  printRequirements(root, *this);
  root["inputs"] = Json::array();
  for (const InputSpec &input : inputs) {
    Json json = print(input);
    json["buffer"] = input.buffer;
    json["state"] = input.state;
    if (input.initial)
      json["initial"] = Json{{"weight", *input.initial}};
    root["inputs"].push_back(std::move(json));
  }
  printOutputs(root, *this);
  root["weights"] = Json::array();
  for (const WeightSpec &weight : weights) {
    Json json = print(weight);
    if (weight.buffer)
      json["buffer"] = *weight.buffer;
    if (!weight.member.empty())
      json["member"] = weight.member;
    json["offset"] = weight.offset;
    json["bytes"] = weight.bytes;
    root["weights"].push_back(std::move(json));
  }
  root["weights_digest"] = weightsDigest;
  root["weights_embedded"] = weightsEmbedded;
  if (!weightsFile.empty())
    root["weights_file"] = weightsFile;
  printSchedule(root, *this);
  if (prepare)
    root["prepare"] = printPrepare(*prepare);
  for (const std::shared_ptr<const Manifest> &variant : variants)
    root["variants"].push_back(printVariant(*variant, *this));
  return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}
