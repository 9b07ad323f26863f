// The check of the end-to-end tests can fail: it sees sockets that it should see.
#include "support/listening.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ddptrain {
namespace {

// Returns the port.
int listen_on(int family, const sockaddr* address, socklen_t length) {
  const int file = ::socket(family, SOCK_STREAM, 0);
  if (::bind(file, address, length) != 0 || ::listen(file, 1) != 0) return -1;
  sockaddr_in6 bound{};
  socklen_t size = sizeof bound;
  ::getsockname(file, reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.sin6_port);  // at the same place for IPv4
}

int listen_on(in_addr_t where) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(where);
  return listen_on(AF_INET, reinterpret_cast<sockaddr*>(&address), sizeof address);
}

// Listeners of a child's child that listens at `where`.
std::vector<Listener> seen_of_a_grandchild(in_addr_t where) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    if (::fork() == 0) {
      const int port = listen_on(where);
      if (::write(ends[1], &port, sizeof port) < 0) ::_exit(1);
    }
    for (;;) ::pause();
  }
  int port = 0;
  EXPECT_EQ(::read(ends[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
  auto found = listening_sockets(child);
  ::kill(-child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (const auto& listener : found) EXPECT_EQ(listener.port, port);
  return found;
}

TEST(ListeningSockets, AreSeenOnLoopback) {
  const auto found = seen_of_a_grandchild(INADDR_LOOPBACK);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].address, "127.0.0.1");
  EXPECT_TRUE(found[0].is_loopback());
}

TEST(ListeningSockets, AreSeenOnEveryAddress) {
  const auto found = seen_of_a_grandchild(INADDR_ANY);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].address, "0.0.0.0");
  EXPECT_FALSE(found[0].is_loopback());
}

TEST(ListeningSockets, OfAProcessWithoutAnyAreNone) {
  EXPECT_TRUE(listening_sockets(::getpid()).empty());
}

}  // namespace
}  // namespace ddptrain
