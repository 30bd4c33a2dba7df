// Stands in while the tree holds no translator (gpu-service/CMakeLists.txt decides): every program is refused by name.
#ifdef ORRERY_WITHOUT_TRANSLATOR
#include "gpu-service/shader/translate.hpp"

namespace orrery::shader {

#ifdef ORRERY_WITHOUT_PROGRAM_READER
std::expected<Program, ShaderRefusal> read_program(const CodeFetch&, Target) {
  return std::unexpected(ShaderRefusal{0, "program", "this build has no translator"});
}
#endif

std::expected<Module, std::vector<ShaderRefusal>> translate(const Program&, const TranslateOptions&) {
  return std::unexpected(std::vector{ShaderRefusal{0, "program", "this build has no translator"}});
}

uint64_t translator_version() { return 0; }

}  // namespace orrery::shader
#endif
