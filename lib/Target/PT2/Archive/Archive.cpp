//===- Archive.cpp - The members of a torch.export archive ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Archive.h"
#include "Pickle.h"
#include <cstring>

using namespace luminal;
using namespace luminal::pt2;

/// Maximum bytes of a "byteorder" member, and of the pickle that lists the
/// tensors of a torch.save file.
static constexpr uint64_t kMaxByteOrder = 64, kMaxPickle = uint64_t(64) << 20;

//===----------------------------------------------------------------------===//
// Stored tensors
//===----------------------------------------------------------------------===//

int64_t StoredTensor::getNumElements() const {
  int64_t n = 1;
  for (int64_t size : sizes)
    n *= size;
  return n;
}

bool StoredTensor::isContiguous() const {
  if (getNumElements() == 0)
    return true;
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected)
      return false;
    expected *= sizes[i];
  }
  return true;
}

std::pair<int64_t, int64_t> StoredTensor::getSpan() const {
  if (getNumElements() == 0)
    return {offset, offset};
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size(); ++i)
    last += (sizes[i] - 1) * strides[i];
  return {offset, last + 1};
}

std::vector<char> StoredTensor::copyElements() const {
  unsigned size = dtype.size();
  std::vector<char> bytes(static_cast<size_t>(getNumElements()) * size);
  std::vector<int64_t> index(sizes.size(), 0);
  int64_t at = offset;
  for (size_t out = 0; out < bytes.size(); out += size) {
    std::memcpy(bytes.data() + out, storage.data + at * size, size);
    for (size_t d = sizes.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < sizes[d])
        break;
      at -= sizes[d] * strides[d];
      index[d] = 0;
    }
  }
  return bytes;
}

/// Number of bytes of the storage that the tensor spans, checked for overflow.
static Result<uint64_t> getReach(const StoredTensor &t,
                                 const std::string &where) {
  unsigned elementSize = t.dtype.size();
  if (!elementSize)
    return Error(where + ": unknown dtype");
  int64_t count = 1, last = t.offset;
  bool tooLarge = false;
  for (size_t i = 0; i < t.sizes.size(); ++i) {
    int64_t reach;
    tooLarge |= t.sizes[i] < 0 || t.strides[i] < 0 ||
                __builtin_mul_overflow(count, t.sizes[i], &count) ||
                __builtin_mul_overflow(std::max<int64_t>(t.sizes[i] - 1, 0),
                                       t.strides[i], &reach) ||
                __builtin_add_overflow(last, reach, &last);
  }
  uint64_t bytes = 0;
  if (tooLarge ||
      (t.offset >= 0 && __builtin_mul_overflow(static_cast<uint64_t>(last) + 1,
                                               elementSize, &bytes)))
    return Error(where + ": sizes, strides or offset are out of range");
  if (t.offset < 0)
    return Error(where + ": the storage offset is negative");
  return count == 0 ? 0 : bytes;
}

/// Checks that the tensor lies in its storage.
static Status checkWindow(const StoredTensor &t, uint64_t reach,
                          const std::string &where) {
  unsigned elementSize = t.dtype.size();
  if (reach > t.storage.size)
    return Error(where + ": needs " + std::to_string(reach / elementSize) +
                 " elements of " + std::to_string(elementSize) +
                 " bytes, but member '" + t.member + "' has " +
                 std::to_string(t.storage.size) + " bytes");
  return {};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// A torch.save file inside an archive.
struct SavedFile {
  std::string member, where;
  ZipArchive zip;
  Bytes pickle;
};
using NamedTensors = std::vector<std::pair<std::string, StoredTensor>>;
} // namespace

/// Opens a torch.save file; std::nullopt for an empty member.
static Result<std::optional<SavedFile>> openSaved(const ZipArchive &zip,
                                                  const std::string &member) {
  LUMINAL_TRY(bytes, zip.resolve(member, kMaxMemberBytes));
  if (bytes.size == 0)
    return std::optional<SavedFile>();
  std::string where = zip.getName() + "!" + member;
  LUMINAL_TRY(inner, ZipArchive::fromBytes(bytes, where));
  const ZipArchive::Member *pickle =
      inner.find(std::string(inner.getRoot()) + "data.pkl");
  if (!pickle)
    return Error(where + ": has no data.pkl, so it is not a torch.save file");
  if (const auto *order =
          inner.find(std::string(inner.getRoot()) + "byteorder")) {
    LUMINAL_TRY(text, inner.readChecked(*order, kMaxByteOrder));
    if (text.text() != "little")
      return Error(where + ": is not little-endian");
  }
  LUMINAL_TRY(code, inner.readChecked(*pickle, kMaxPickle));
  return std::optional(
      SavedFile{member, std::move(where), std::move(inner), std::move(code)});
}

/// Finds the storages of tensors, several of which may be views of one.
static Result<NamedTensors>
findStorages(const SavedFile &file,
             std::vector<std::pair<std::string, PickledTensor>> pickled) {
  std::map<std::string, uint64_t> reaches;
  NamedTensors found;
  auto placeOf = [&](const std::string &fqn) {
    return file.where + ": tensor '" + fqn + "'";
  };
  for (auto &[fqn, tensor] : pickled) {
    StoredTensor t;
    t.dtype.code = tensor.dtype;
    t.sizes = std::move(tensor.sizes);
    t.strides = std::move(tensor.strides);
    t.offset = tensor.offset;
    t.member = "data/" + tensor.storageKey;
    LUMINAL_TRY(reach, getReach(t, placeOf(fqn)));
    uint64_t &most = reaches[t.member];
    most = std::max(most, reach);
    found.emplace_back(fqn, std::move(t));
  }
  for (auto &[fqn, t] : found) {
    LUMINAL_TRY(storage, file.zip.resolve(t.member, reaches[t.member]));
    t.storage = std::move(storage);
    t.member = file.member + "!" + t.member;
    LUMINAL_TRY(reach, getReach(t, placeOf(fqn)));
    LUMINAL_CHECK(checkWindow(t, reach, placeOf(fqn)));
  }
  return found;
}

Status Archive::readPickle(const std::string &member,
                           std::map<std::string, StoredTensor> &tensors,
                           const std::string &onlyName) {
  LUMINAL_TRY(file, openSaved(*zip, member));
  if (!file)
    return {};
  auto read = unpickleTensors(file->pickle.text());
  if (!read)
    return read.takeError().within(file->where);
  if (!onlyName.empty() && !read->count(""))
    return Error(file->where + ": expected one tensor");
  std::vector<std::pair<std::string, PickledTensor>> pickled;
  for (auto &[name, tensor] : *read)
    pickled.emplace_back(onlyName.empty() ? name : onlyName, std::move(tensor));
  LUMINAL_TRY(found, findStorages(*file, std::move(pickled)));
  for (auto &[fqn, t] : found)
    tensors[fqn] = std::move(t);
  return {};
}

Result<std::vector<StoredTensor>> Archive::readSamples(const ZipArchive &zip) {
  std::vector<StoredTensor> samples;
  std::string member = "serialized_example_inputs.pt";
  if (!zip.find(member)) {
    const std::string prefix = std::string(zip.getRoot());
    member.clear();
    for (const ZipArchive::Member &candidate : zip.getMembers()) {
      std::string_view name = candidate.name;
      constexpr std::string_view folder = "data/sample_inputs/", end = ".pt";
      if (!name.starts_with(prefix + std::string(folder)) ||
          !name.ends_with(end))
        continue;
      if (!member.empty())
        return Error(zip.getName() + ": holds the inputs of several models");
      member = name.substr(prefix.size());
    }
  }
  if (member.empty())
    return samples;
  LUMINAL_TRY(file, openSaved(zip, member));
  if (!file)
    return samples;
  auto leaves = unpickleLeaves(file->pickle.text());
  if (!leaves)
    return leaves.takeError().within(file->where);
  std::vector<std::pair<std::string, PickledTensor>> pickled;
  for (PickledTensor &leaf : *leaves)
    pickled.emplace_back(std::to_string(pickled.size()), std::move(leaf));
  LUMINAL_TRY(found, findStorages(*file, std::move(pickled)));
  for (auto &[position, t] : found)
    samples.push_back(std::move(t));
  return samples;
}

static Result<std::vector<int64_t>> constants(const std::vector<Expr> &exprs,
                                              const JsonRef &json) {
  std::vector<int64_t> values;
  for (const Expr &e : exprs) {
    auto c = e.asConstant();
    if (!c)
      return json.error("a stored tensor has a symbolic extent");
    values.push_back(*c);
  }
  return values;
}

Status Archive::readConfig(std::string_view folder, const std::string &model,
                           std::map<std::string, StoredTensor> &tensors) {
  std::string prefix = "data/" + std::string(folder) + "/";
  std::string configName =
      prefix + model + "_" + std::string(folder) + "_config.json";
  const auto *member = zip->find(std::string(zip->getRoot()) + configName);
  if (!member) {
    // torch 2.7 and 2.8 write one torch.save file per folder.
    if (zip->find(std::string(zip->getRoot()) + prefix + model + ".pt"))
      return readPickle(prefix + model + ".pt", tensors);
    return {};
  }
  LUMINAL_TRY(text, zip->readChecked(*member));
  LUMINAL_TRY(json, JsonDocument::parse(text.text(),
                                        zip->getName() + "!" + configName));
  LUMINAL_TRY(config, json.root().at("config"));
  LUMINAL_TRY(entries, config.asObject());
  // Several tensors may be views of one storage.
  std::map<std::string, uint64_t> reaches;
  struct Raw {
    std::string fqn;
    JsonRef entry, path;
    StoredTensor tensor;
    uint64_t reach;
  };
  std::vector<Raw> found;
  for (const auto &[fqn, entry] : entries) {
    LUMINAL_TRY(pathField, entry.at("path_name"));
    LUMINAL_TRY(path, pathField.asString());
    LUMINAL_TRY(pickleField, entry.find("use_pickle"));
    if (pickleField) {
      LUMINAL_TRY(pickled, pickleField->asBool());
      if (pickled) {
        LUMINAL_CHECK(readPickle(prefix + path, tensors, fqn));
        continue;
      }
    }
    LUMINAL_TRY(metaField, entry.find("tensor_meta"));
    if (!metaField)
      return entry.error("has no tensor_meta, so it is not a plain tensor");
    LUMINAL_TRY(meta, parseTensorMeta(*metaField));
    StoredTensor t;
    t.dtype = meta.dtype;
    LUMINAL_TRY(sizes, ::constants(meta.sizes, *metaField));
    LUMINAL_TRY(strides, ::constants(meta.strides, *metaField));
    t.sizes = sizes;
    t.strides = strides;
    auto offset = meta.storageOffset.asConstant();
    if (!offset)
      return metaField->error("has a symbolic storage offset");
    t.offset = *offset;
    t.member = prefix + path;
    LUMINAL_TRY(reach, getReach(t, entry.getPath()));
    reaches[t.member] = std::max(reaches[t.member], reach);
    found.push_back({fqn, entry, pathField, std::move(t), reach});
  }
  for (auto &[fqn, entry, path, t, reach] : found) {
    Result<Bytes> storage = zip->resolve(t.member, reaches[t.member]);
    if (!storage)
      return path.error(storage.error().message);
    t.storage = std::move(*storage);
    // A torch.save file may be exactly as long as the raw bytes would be.
    constexpr std::string_view magic("PK\3\4", 4);
    if (t.storage.text().substr(0, 4) == magic)
      if (auto saved = ZipArchive::fromBytes(t.storage, t.member);
          saved && saved->find(std::string(saved->getRoot()) + "data.pkl"))
        return entry.error("member '" + t.member +
                           "' is a torch.save file where raw bytes are "
                           "expected");
    LUMINAL_CHECK(checkWindow(t, reach, entry.getPath()));
    tensors[fqn] = std::move(t);
  }
  return {};
}

/// Turns a complex tensor into a real one whose last dim holds the two parts.
static void viewAsReal(StoredTensor &tensor) {
  if (!tensor.dtype.isComplex())
    return;
  tensor.dtype = tensor.dtype.getReal();
  tensor.offset *= 2;
  for (int64_t &stride : tensor.strides)
    stride *= 2;
  tensor.sizes.push_back(2);
  tensor.strides.push_back(1);
}

Result<Archive> Archive::read(ZipArchive opened) {
  Archive archive;
  archive.zip = std::make_shared<ZipArchive>(std::move(opened));
  ZipArchive &zip = *archive.zip;
  std::string root(zip.getRoot());

  if (const auto *order = zip.find(root + "byteorder")) {
    LUMINAL_TRY(text, zip.readChecked(*order, kMaxByteOrder));
    if (text.text() != "little")
      return Error(zip.getName() + ": is not little-endian");
  }
  const ZipArchive::Member *program =
      zip.find("serialized_exported_program.json");
  bool flat = program != nullptr;
  std::string model;
  if (!flat) {
    std::string prefix = root + "models/", suffix = ".json";
    for (const ZipArchive::Member &member : zip.getMembers()) {
      const std::string &name = member.name;
      if (name.size() <= prefix.size() + suffix.size() ||
          name.compare(0, prefix.size(), prefix) != 0 ||
          name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
        continue;
      if (program)
        return Error(zip.getName() + ": holds more than one model");
      program = &member;
      model = name.substr(prefix.size(),
                          name.size() - prefix.size() - suffix.size());
    }
  }
  if (!program)
    return Error(
        zip.getName() +
        ": is not a torch.export archive (it holds neither models/*.json "
        "nor serialized_exported_program.json)");
  LUMINAL_TRY(text, zip.readChecked(*program));
  LUMINAL_TRY(document, JsonDocument::parse(text.text(), zip.getName() + "!" +
                                                             program->name));
  archive.document = std::make_shared<JsonDocument>(std::move(document));
  archive.program = std::make_shared<JsonRef>(archive.document->root());
  for (auto [member, table] : {std::pair{kModulesMember, &archive.modules},
                               std::pair{kPlacesMember, &archive.places}})
    if (const auto *found = zip.find(root + "extra/" + std::string(member))) {
      LUMINAL_TRY(text, zip.readChecked(*found));
      LUMINAL_TRY(entries, parseModuleTable(text.text(),
                                            zip.getName() + "!" + found->name));
      *table = std::move(entries);
    }

  if (flat) {
    for (auto [member, tensors] :
         {std::pair{"serialized_state_dict.pt", &archive.weights},
          std::pair{"serialized_constants.pt", &archive.constants}})
      if (zip.find(member))
        LUMINAL_CHECK(archive.readPickle(member, *tensors));
    // Older archives keep these as JSON or under another name.
    if (!zip.find("serialized_state_dict.pt") &&
        zip.find("serialized_state_dict.json"))
      return Error(zip.getName() + ": weights in serialized_state_dict.json "
                                   "are not supported; save the program with "
                                   "torch 2.6 or later");
    return archive;
  }
  LUMINAL_CHECK(archive.readConfig("weights", model, archive.weights));
  LUMINAL_CHECK(archive.readConfig("constants", model, archive.constants));
  for (auto *tensors : {&archive.weights, &archive.constants})
    for (auto &[fqn, tensor] : *tensors)
      viewAsReal(tensor);
  return archive;
}

const StoredTensor *Archive::find(const std::string &fqn) const {
  for (const auto *tensors : {&weights, &constants})
    if (auto it = tensors->find(fqn); it != tensors->end())
      return &it->second;
  return nullptr;
}
