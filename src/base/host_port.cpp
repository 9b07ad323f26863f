#include "base/host_port.h"

#include <algorithm>

#include "base/text.h"

namespace ddptrain {
namespace {

/// Where the host ends, brackets included.
std::size_t end_of_host(const std::string& text) {
  if (!text.starts_with('[')) return std::min(text.find(':'), text.size());
  const auto bracket = text.find(']');
  return bracket == std::string::npos ? 0 : bracket + 1;
}

}  // namespace

std::optional<HostPort> parse_host_port(const std::string& text) {
  const auto end = end_of_host(text);
  auto host = text.substr(0, end);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  if (host.empty() || host.find_first_of(" \t/[]") != std::string::npos) return {};
  if (end == text.size()) return HostPort{host, {}};
  const auto port = parse_integer(text.substr(end + 1));
  if (text[end] != ':' || !port || *port < 1 || *port > 65535) return {};
  return HostPort{host, static_cast<int>(*port)};
}

}  // namespace ddptrain
