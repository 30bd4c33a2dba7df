#include "protocol/control_socket.hpp"

#ifndef ORRERY_BUILD_ID
#define ORRERY_BUILD_ID "unversioned"
#endif

namespace orrery::protocol {

std::string build_id() { return ORRERY_BUILD_ID; }

}  // namespace orrery::protocol
