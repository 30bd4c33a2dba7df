#include "shared/error.hpp"

namespace orrery {

std::string Error::describe() const {
  std::string text;
  for (auto line = context.rbegin(); line != context.rend(); ++line) text += "while " + *line + ": ";
  return text + message;
}

}  // namespace orrery
