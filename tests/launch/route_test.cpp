#include "launch/route.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(AddressTowards, LoopbackIsLoopback) {
  EXPECT_EQ(address_towards("127.0.0.1", 29500), "127.0.0.1");
  EXPECT_TRUE(is_loopback(address_towards("localhost", 29500)));
}

TEST(AddressTowards, AnUnknownHostIsEmpty) {
  EXPECT_EQ(address_towards("no-such-host.invalid", 29500), "");
}

TEST(Loopback, IsTheNet127AndOneAddressOfIpv6) {
  EXPECT_TRUE(is_loopback("127.0.1.1"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("10.0.0.1"));
  EXPECT_FALSE(is_loopback("128.0.0.1"));
  EXPECT_FALSE(is_loopback("fe80::1"));
  EXPECT_FALSE(is_loopback("localhost"));
  EXPECT_FALSE(is_loopback(""));
}

}  // namespace
}  // namespace ddptrain
