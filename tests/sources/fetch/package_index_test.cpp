#include "sources/fetch/package_index.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

constexpr const char* kAddress = "https://index.example/simple/nvidia-nvtx/";

std::string link_on(const std::string& page) { return link_with_digest(page, kAddress, "0123ab"); }

TEST(PinnedWheels, AreLinesOfPipsRequirements) {
  const auto wheels = pinned_wheels(
      "# torch==1.0 --hash=sha256:ff\n\nnvidia-nvtx==13.0.85 --hash=sha256:0123ab\ntorch==2.11.0\n"
      "torch==2.11.0 --hash=sha256:cd");
  ASSERT_EQ(wheels.size(), 2);
  EXPECT_EQ(wheels[0].package, "nvidia-nvtx");
  EXPECT_EQ(wheels[0].version, "13.0.85");
  EXPECT_EQ(wheels[0].sha256, "0123ab");
  EXPECT_EQ(wheels[1].sha256, "cd");
}

// The forms of links in PEP 503, and those of PyPI, devpi and Artifactory.
TEST(PackageIndex, NamesAFileByItsDigest) {
  const std::string other = "<a href=\"https://files.example/a.whl#sha256=ffff\">a.whl</a>\n";
  EXPECT_EQ(link_on(other + "<a href=\"https://files.example/b.whl#sha256=0123ab\" "
                            "data-requires-python=\"&gt;=3\">b.whl</a>"),
            "https://files.example/b.whl");
  EXPECT_EQ(link_on(other + "<a href='../../files/b.whl#sha256=0123ab'>b.whl</a>"),
            "https://index.example/simple/nvidia-nvtx/../../files/b.whl");
  EXPECT_EQ(link_on(other + "<a href=\"/files/b.whl?a=1&amp;b=2#sha256=0123ab\">b.whl</a>"),
            "https://index.example/files/b.whl?a=1&b=2");
  EXPECT_EQ(link_on("<a href=\"//files.example/b.whl#sha256=0123ab\">b.whl</a>"),
            "https://files.example/b.whl");
  EXPECT_EQ(link_on(other), "");
  EXPECT_EQ(link_on("#sha256=0123ab"), "");
}

}  // namespace
}  // namespace ddptrain
