// One precompiled kernel through decoder, translator and validator.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "gpu-service/shader/translate.hpp"
#include "tests/gpu-service/shader/opencl/code_object.hpp"

namespace orrery::corpora {

struct LayoutFinding {
  bool translated = false, valid = false;
  double seconds = 0;  // of the translation, decoding not included
  uint64_t words = 0;  // of the module
  bool dispatcher_loop = false;
  std::vector<std::string> reasons;  // "mnemonic: reason", without places; or the validator's first line
};

struct Finding {
  std::string unread;  // why the program could not be read
  uint64_t instructions = 0;
  double read_seconds = 0;
  std::vector<LayoutFinding> layouts;
};

struct SurveyOptions {
  std::vector<uint32_t> subgroups{8, 32, 1};  // host subgroup widths; 1: the whole wave in one invocation
  bool validate = true;
};

std::expected<shader::Program, shader::ShaderRefusal> read_kernel(const opencl::CodeObject& object,
                                                                  const opencl::Kernel& kernel);
Finding survey(const opencl::CodeObject& object, const opencl::Kernel& kernel, const SurveyOptions& options);

}  // namespace orrery::corpora
