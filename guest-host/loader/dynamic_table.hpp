// The dynamic section, in any of its three conventions (guest-abi.md 1.3): current generation (ordinary tags and
// virtual addresses, vendor identity tags), previous generation (vendor tags with offsets into a table segment), plain.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "guest-host/loader/elf_file.hpp"

namespace orrery::loader {

struct Symbol {
  std::string name;
  uint64_t value = 0;
  uint64_t size = 0;
  uint16_t section = 0;  // 0: undefined
  bool weak = false;
  bool thread_local_data = false;
  bool function = false;
};

struct Relocation {
  uint64_t address = 0;
  uint32_t type = 0;
  uint32_t symbol = 0;
  int64_t addend = 0;
};

enum class DynamicConvention { none, plain, current, previous };

struct DynamicTable {
  DynamicConvention convention = DynamicConvention::none;
  std::map<uint16_t, std::string> import_libraries;  // by id
  std::map<uint16_t, std::string> import_modules;    // by id
  std::vector<std::string> needed;
  std::vector<Relocation> relocations;  // DT_RELA, then DT_JMPREL
  std::vector<Symbol> symbols;
};

// Collects the tags in one pass (their order does not matter), reads the tables in a second. Errors: file_malformed.
Result<DynamicTable> read_dynamic_table(const ElfFile& elf);

}  // namespace orrery::loader
