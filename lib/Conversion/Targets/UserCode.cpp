//===- UserCode.cpp - Checks of a user's machine code ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "UserCode.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"

using namespace luminal;
using namespace mlir;

bool luminal::isElf(StringRef bytes) {
  return bytes.starts_with(StringRef(llvm::ELF::ElfMagic, 4));
}

/// Whether the symbol is an exported function definition.
static bool isDefinition(const llvm::object::ELFSymbolRef &symbol,
                         StringRef entry) {
  auto consume = [](auto expected) {
    if (expected)
      return std::optional(*expected);
    llvm::consumeError(expected.takeError());
    return std::optional<std::decay_t<decltype(*expected)>>();
  };
  std::optional<StringRef> name = consume(symbol.getName());
  if (name != entry)
    return false;
  std::optional<uint32_t> flags = consume(symbol.getFlags());
  return flags && !(*flags & llvm::object::SymbolRef::SF_Undefined) &&
         (*flags & llvm::object::SymbolRef::SF_Global) &&
         symbol.getELFType() == llvm::ELF::STT_FUNC;
}

Status luminal::checkElf(const UserCode &code, StringRef what, uint16_t machine,
                         uint16_t type) {
  auto wrong = [&](const Twine &reason) {
    return Error((what + ": " + reason).str());
  };
  if (!isElf(code.bytes))
    return wrong("is no ELF file");
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(code.bytes, what));
  if (!file)
    return wrong(llvm::toString(file.takeError()));
  auto &elf = cast<llvm::object::ELFObjectFileBase>(**file);
  if (!isa<llvm::object::ELF64LEObjectFile>(elf) ||
      elf.getEMachine() != machine)
    return wrong("is for another machine (ELF machine " +
                 Twine(elf.getEMachine()) + ")");
  if (type && elf.getEType() != type)
    return wrong("is not one (ELF type " + Twine(elf.getEType()) + ")");
  // A shared object is called through its dynamic symbols.
  auto matches = [&](const llvm::object::SymbolRef &symbol) {
    return isDefinition(llvm::object::ELFSymbolRef(symbol), code.entry);
  };
  bool isFound = type == llvm::ELF::ET_DYN
                     ? llvm::any_of(elf.getDynamicSymbolIterators(), matches)
                     : llvm::any_of(elf.symbols(), matches);
  if (!isFound)
    return wrong("has no function '" + code.entry + "'");
  return {};
}

/// The words that follow `directive`, where that is a whole word; words end at
/// blanks, commas and brackets.
static SmallVector<StringRef> getWordsAfter(StringRef text,
                                            StringRef directive) {
  SmallVector<StringRef> found;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  bool isNext = false;
  for (StringRef line : lines) {
    line = line.take_front(line.find("//"));
    while (true) {
      line = line.ltrim(" \t\r,(){};");
      if (line.empty())
        break;
      StringRef word = line.take_until(
          [](char c) { return StringRef(" \t\r,(){};").contains(c); });
      line = line.drop_front(word.size());
      if (isNext)
        found.push_back(word);
      isNext = word == directive;
    }
  }
  return found;
}

Result<std::string> luminal::checkPTX(const UserCode &code) {
  StringRef text = code.bytes;
  if (text.contains('\0') || getWordsAfter(text, ".version").empty())
    return Error("PTX: is neither PTX text nor a cubin");
  SmallVector<StringRef> targets = getWordsAfter(text, ".target");
  if (targets.empty())
    return Error("PTX: names no .target");
  if (!llvm::is_contained(getWordsAfter(text, ".entry"), code.entry))
    return Error(("PTX: has no entry '" + code.entry + "'").str());
  return targets.front().str();
}
