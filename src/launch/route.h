// The addresses of this machine, as others can reach them.
#pragma once

#include <string>

struct sockaddr;

namespace ddptrain {

bool is_loopback(const sockaddr& address);
/// The same of an address in numbers; false for other text.
bool is_loopback(const std::string& address);

/// The address, in numbers, from which this machine reaches a host: that of the interface which
/// routes there. Empty where the name is not known, or nothing routes there. Sends nothing.
std::string address_towards(const std::string& host, int port);

/// The interface that has an address in numbers: "eth0"; empty where none has.
std::string interface_of(const std::string& address);

/// Whether this machine finds an address for a name.
bool resolves(const std::string& host);

}  // namespace ddptrain
