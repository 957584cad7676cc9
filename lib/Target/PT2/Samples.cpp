//===- Samples.cpp - Example inputs of an archive -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Target/PT2/samples.test.
//
//===----------------------------------------------------------------------===//

#include "Archive/Archive.h"
#include "luminal/Target/PT2.h"

using namespace luminal;
using namespace luminal::pt2;

Result<std::vector<HostTensor>>
luminal::readPT2Samples(Bytes bytes, const std::string &name) {
  LUMINAL_TRY(zip, ZipArchive::fromBytes(std::move(bytes), name));
  LUMINAL_TRY(stored, Archive::readSamples(zip));
  std::vector<HostTensor> samples;
  for (const StoredTensor &t : stored) {
    const std::string where = name + "!" + t.member;
    std::optional<DType> dtype = t.dtype.dtype();
    if (!dtype)
      return Error(where + ": has element type " + t.dtype.name());
    HostTensor sample;
    sample.dtype = *dtype;
    sample.shape = t.sizes;
    std::optional<int64_t> size = tensorBytes(sample.dtype, sample.shape);
    // An expanded tensor could have any size, whatever its storage.
    if (!size || static_cast<uint64_t>(*size) > t.storage.size)
      return Error(where + ": is larger than its storage");
    auto elements = std::make_shared<std::vector<char>>(t.copyElements());
    sample.bytes.data = reinterpret_cast<const uint8_t *>(elements->data());
    sample.bytes.size = elements->size();
    sample.bytes.owner = std::move(elements);
    samples.push_back(std::move(sample));
  }
  return samples;
}
