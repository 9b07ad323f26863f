// "HOST[:PORT]" as people write it.
#pragma once

#include <optional>
#include <string>

namespace ddptrain {

struct HostPort {
  std::string host;  // without the brackets of "[fe80::1]:29500"
  std::optional<int> port;
};

/// Nothing where the text is no such thing, or the port is not in 1 .. 65535.
std::optional<HostPort> parse_host_port(const std::string& text);

}  // namespace ddptrain
