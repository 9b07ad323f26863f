#include "launch/route.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>

namespace ddptrain {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

AddressList addresses_of(const std::string& host, int port, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  wanted.ai_flags = flags;
  addrinfo* list = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &list) != 0)
    list = nullptr;
  return {list, &::freeaddrinfo};
}

/// A connected socket of datagrams has the address that the kernel's routes choose.
std::string own_address(const addrinfo& there) {
  const int made = ::socket(there.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (made < 0) return {};
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  char text[NI_MAXHOST] = "";
  const bool found = ::connect(made, there.ai_addr, there.ai_addrlen) == 0 &&
                     ::getsockname(made, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
                     ::getnameinfo(reinterpret_cast<const sockaddr*>(&own), size, text, sizeof text,
                                   nullptr, 0, NI_NUMERICHOST) == 0;
  ::close(made);
  return found ? text : "";
}

}  // namespace

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  }
  if (address.sa_family != AF_INET6) return false;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof v6);
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

bool is_loopback(const std::string& address) {
  const auto list = addresses_of(address, 1, AI_NUMERICHOST);
  return list && is_loopback(*list->ai_addr);
}

std::string interface_of(const std::string& address) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(all, &::freeifaddrs);
  for (const auto* each = list.get(); each; each = each->ifa_next) {
    if (!each->ifa_addr) continue;
    const auto family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    char text[NI_MAXHOST] = "";
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getnameinfo(each->ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0 &&
        address == text)
      return each->ifa_name;
  }
  return {};
}

bool resolves(const std::string& host) { return addresses_of(host, 1, 0) != nullptr; }

std::string address_towards(const std::string& host, int port) {
  const auto list = addresses_of(host, port, 0);
  for (const auto* each = list.get(); each; each = each->ai_next)
    if (auto own = own_address(*each); !own.empty()) return own;
  return {};
}

}  // namespace ddptrain
