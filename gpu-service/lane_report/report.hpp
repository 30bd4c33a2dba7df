// What the gate decides for each program, as rows; as a table or JSON.
#pragma once

#include <optional>

#include "gpu-service/lane_report/compute_program.hpp"
#include "gpu-service/shader/translate.hpp"
#include "shared/error.hpp"

namespace orrery::lane_report {

struct Question {
  std::optional<uint32_t> subgroup = 32;         // the host's width; nothing: not known
  std::array<uint32_t, 3> group_size{64, 1, 1};  // where the file does not say
  uint32_t workgroup_memory = 65536;             // bytes of the host
  bool partial_groups = false;
};

struct Row {
  std::string file;
  ComputeProgram program;           // words dropped
  std::array<uint32_t, 3> group{};  // that was asked about
  ContentHash hash;                 // of the decoded extent
  uint32_t instructions = 0, spirv_words = 0;
  std::optional<shader::ProgramNeeds> needs;
  std::optional<shader::LaneChoice> choice;
  std::string reason;  // why it is not per lane, or runs not at all
  bool dispatcher_loop = false, lds_in_memory = false;
  std::vector<shader::ShaderRefusal> refusals;
};

Row row_of(std::string file, ComputeProgram program, const Question& question);

std::string exchange_of(const shader::LaneLayout& layout);  // "none", "ballot and shuffle", "workgroup memory"
std::string as_table(const std::vector<Row>& rows, const Question& question);
std::string as_json(const std::vector<Row>& rows, const std::vector<Error>& errors, const Question& question);

}  // namespace orrery::lane_report
