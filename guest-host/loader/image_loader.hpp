// Puts a parsed title into guest memory: segments, thread-local template, relocations, imports, FS patches, protection.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "guest-host/cpu/guest_process.hpp"
#include "guest-host/loader/dynamic_table.hpp"
#include "guest-host/loader/elf_file.hpp"
#include "guest-host/memory/guest_memory.hpp"

namespace orrery::loader {

// An import as the title names it.
struct ImportRequest {
  std::string library;  // empty where names are plain
  std::string name;     // an identifier (11 characters) or, plain, a name
  bool plain = false;
  bool weak = false;
};

// Says where an import lies. Weak imports that nobody provides answer 0.
using ImportResolver = std::function<Result<uint64_t>(const ImportRequest&)>;

// Parsed and checked, nothing mapped yet.
struct Title {
  ElfFile elf;
  DynamicTable dynamic;
};
// Reads, unwraps, parses.
Result<Title> read_title(const std::string& path);
Result<Title> parse_title(std::vector<std::byte> bytes);

struct LoadedImage {
  GuestAddress base;  // added to the file's addresses
  GuestAddress begin;
  GuestAddress end;
  GuestAddress entry;
  GuestAddress process_parameters;  // 0: none
  cpu::TlsTemplate tls;
  size_t imports = 0;
};

// `fs_prefixes`: addresses (in the file's terms) of FS prefixes to turn into GS. Errors: file_malformed (relocations
// out of range, unknown types, symbols), guest_fault (no room).
Result<LoadedImage> load_image(const Title& title, memory::GuestMemory& memory, const ImportResolver& resolve,
                               const std::vector<uint64_t>& fs_prefixes);

}  // namespace orrery::loader
