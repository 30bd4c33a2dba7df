// Where the compiled kernels lie: beside the folder of the running program, in a build and in a bundle alike.
#pragma once

#include <filesystem>
#include <string>

namespace orrery {

inline std::string shader_corpus() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "shader-corpus";
}

}  // namespace orrery
