// Code asks what a mode of training in parallel has (recipe/mode.h), not which one it is, so that
// another mode changes the engines alone.
#include <gtest/gtest.h>

#include <filesystem>

#include "architecture/source_lines.h"

namespace ddptrain {
namespace {

TEST(Modes, AreNamedByRecipesAndEnginesAlone) {
  const auto may = [](const std::string& file) {
    return file.starts_with("distributed/") || std::filesystem::path(file).stem() == "mode";
  };
  test::expect_lines_only_where(
      may, "[=!]= Mode::|Mode::\\w+ [=!]=|\\bMode::(dp|ddp)\\b",
      {"if (mode == Mode::none)", "return Mode::dp != mode;", "case Mode::ddp:"});
}

}  // namespace
}  // namespace ddptrain
