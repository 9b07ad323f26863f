// Fragments of recipes, laid over one good recipe.
#pragma once

#include <gtest/gtest.h>

#include "base/files/files.h"
#include "recipe/load/load.h"
#include "support/temporary_folder.h"
#include "support/where.h"
#include "train/catalogs.h"

namespace ddptrain::test {

/// A folder of its own for a fragment and tests/support/good_recipe.yaml.
class LaidOver : public testing::Test {
 protected:
  LaidOver() { folder_.write("base.yaml", read_text(in_source("tests/support/good_recipe.yaml"))); }

  std::string base() const { return folder_ / "base.yaml"; }
  std::string fragment() const { return folder_ / "fragment.yaml"; }
  Loaded laid_over(std::string_view text, const std::vector<std::string>& overrides = {}) const {
    folder_.write("fragment.yaml", text);
    auto loaded = load_recipe({base(), fragment()}, overrides, all_catalogs());
    // Fragments name other components than the good recipe; what that drops is another test's.
    std::erase_if(loaded.problems, [](const Problem& p) { return p.rule == "dropped-option"; });
    return loaded;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace ddptrain::test
