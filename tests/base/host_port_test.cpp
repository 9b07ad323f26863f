#include "base/host_port.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(HostPort, IsAHostAndMayHaveAPort) {
  struct Case {
    std::string text, host;
    std::optional<int> port;
  };
  for (const auto& [text, host, port] :
       {Case{"node0", "node0", {}}, Case{"node0:29500", "node0", 29500},
        Case{"10.0.0.1:1", "10.0.0.1", 1}, Case{"[fe80::1]:65535", "fe80::1", 65535},
        Case{"[::1]", "::1", {}}}) {
    const auto parsed = parse_host_port(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->host, host);
    EXPECT_EQ(parsed->port, port);
  }
}

TEST(HostPort, IsNothingElse) {
  for (const std::string text :
       {"", ":29500", "node0:", "node0:0", "node0:65536", "node0:http", "tcp://node0", "node0:1:2",
        "[fe80::1", "fe80::1", "[]:1", "node 0", "[::1]29500"})
    EXPECT_FALSE(parse_host_port(text)) << text;
}

}  // namespace
}  // namespace ddptrain
