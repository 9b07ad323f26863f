#include "base/files/plugin.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cerrno>

namespace ddptrain {
namespace {

/// What this function of the C library returns: the address of errno, which stands for a version.
struct ErrnoTable {
  static constexpr const char* symbol = "__errno_location";
  static constexpr int current = 7;
  int version;
};
struct NoTable {
  static constexpr const char* symbol = "no_such_function_of_the_c_library";
  static constexpr int current = 7;
  int version;
};

constexpr const char* kLibrary = "libc.so.6";

TEST(Plugin, OffersTheTableOfItsVersion) {
  auto plugin = open_plugin(kLibrary, RTLD_NOW);
  ASSERT_NE(plugin.handle, nullptr) << plugin.why_not;
  errno = 7;
  EXPECT_EQ(table_of<ErrnoTable>(plugin, kLibrary), static_cast<const void*>(&errno));
}

TEST(Plugin, OfAnotherVersionIsRefused) {
  auto plugin = open_plugin(kLibrary, RTLD_NOW);
  errno = 8;
  EXPECT_EQ(table_of<ErrnoTable>(plugin, kLibrary), nullptr);
  EXPECT_EQ(plugin.why_not, "'libc.so.6' belongs to another version of ddptrain");
}

TEST(Plugin, ThatIsNoneOfOursIsRefused) {
  auto plugin = open_plugin(kLibrary, RTLD_NOW);
  EXPECT_EQ(table_of<NoTable>(plugin, kLibrary), nullptr);
  EXPECT_EQ(plugin.why_not, "'libc.so.6' is not ddptrain's");
}

TEST(Plugin, ThatIsNotThereIsNamed) {
  auto plugin = open_plugin("libno_such_plugin.so", RTLD_NOW);
  EXPECT_FALSE(plugin.found);
  EXPECT_EQ(table_of<NoTable>(plugin, "libno_such_plugin.so"), nullptr);
  EXPECT_EQ(plugin.why_not,
            "libno_such_plugin.so: cannot open shared object file: No such file or directory");
}

}  // namespace
}  // namespace ddptrain
