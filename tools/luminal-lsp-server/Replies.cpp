//===- Replies.cpp - What the language server adds to MLIR's answers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Replies.h"
#include "luminal/Support/Version.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <unistd.h>

namespace json = llvm::json;

/// The pages that mlir-tblgen writes for the dialects.
static constexpr llvm::StringLiteral kReference =
#include "Reference.inc"
    ;

/// The summary and description of an op: its section of the reference up to
/// the tables of traits and operands. Empty where there is none.
static llvm::StringRef findEntry(llvm::StringRef op) {
  std::string title = llvm::formatv("\n### `{0}` (", op);
  size_t begin = kReference.find(title);
  if (begin == llvm::StringRef::npos)
    return {};
  llvm::StringRef entry = kReference.substr(begin + 1).split('\n').second;
  for (llvm::StringRef end :
       {"\n### ", "\n#### ", "\nTraits:", "\nInterfaces:"})
    entry = entry.substr(0, entry.find(end));
  return entry.trim();
}

std::string completeReply(std::string_view message) {
  llvm::Expected<json::Value> parsed = json::parse(message);
  json::Object *object = nullptr;
  if (!parsed)
    llvm::consumeError(parsed.takeError());
  else if (json::Object *root = parsed->getAsObject())
    object = root->getObject("result");
  if (!object)
    return std::string(message);
  if (json::Object *server = object->getObject("serverInfo"))
    *server = json::Object{{"name", "luminal-lsp-server"},
                           {"version", LUMINAL_VERSION}};
  if (json::Object *contents = object->getObject("contents")) {
    // MLIR's text begins with the quoted name of the op.
    std::string text = contents->getString("value").value_or("").str();
    llvm::StringRef name = llvm::StringRef(text).split('"').second;
    llvm::StringRef entry = findEntry(name.split('"').first);
    if (!entry.empty())
      (*contents)["value"] = text + "\n***\n" + entry.str();
  }
  return llvm::formatv("{0}", *parsed);
}

/// Reads `Content-Length: N`, an empty line and N bytes; false at the end.
static bool readMessage(std::FILE *from, std::string &message) {
  size_t length = 0;
  for (std::string line;;) {
    int c = std::fgetc(from);
    if (c == EOF)
      return false;
    if (c != '\n') {
      line.push_back(static_cast<char>(c));
      continue;
    }
    llvm::StringRef field = llvm::StringRef(line).rtrim('\r');
    if (field.empty())
      break;
    if (field.consume_front("Content-Length:"))
      (void)field.trim().getAsInteger(10, length);
    line.clear();
  }
  message.resize(length);
  return std::fread(message.data(), 1, length, from) == length;
}

ReplyFilter::ReplyFilter() {
  int ends[2];
  std::FILE *from = nullptr;
  if (::pipe(ends) != 0)
    return;
  client = ::dup(STDOUT_FILENO);
  if (client < 0 || !(from = ::fdopen(ends[0], "rb")) ||
      ::dup2(ends[1], STDOUT_FILENO) < 0) {
    from ? std::fclose(from) : ::close(ends[0]);
    ::close(ends[1]);
    if (client >= 0)
      ::close(client);
    client = -1;
    return;
  }
  ::close(ends[1]);
  sender = std::thread([from, client = client] {
    llvm::raw_fd_ostream to(client, /*shouldClose=*/true);
    for (std::string message; readMessage(from, message);) {
      std::string reply = completeReply(message);
      to << "Content-Length: " << reply.size() << "\r\n\r\n" << reply;
      to.flush();
    }
    // A disconnected client is not an error of the server.
    to.clear_error();
    std::fclose(from);
  });
}

ReplyFilter::~ReplyFilter() {
  if (!*this)
    return;
  llvm::outs().flush();
  ::close(STDOUT_FILENO);
  sender.join();
}
