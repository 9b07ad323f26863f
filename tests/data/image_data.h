// Images of the golden folder in folders of a test.
#pragma once

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files/files.h"
#include "data/dataset.h"
#include "support/node.h"
#include "support/temporary_folder.h"
#include "support/where.h"

namespace ddptrain {

/// Bytes of tests/golden/images/NAME.
inline std::string image(const std::string& name) {
  return read_text(test::in_source("tests/golden/images/") + name);
}

inline std::unique_ptr<Dataset> build_data(const nlohmann::json& section,
                                           const DataContext& context = {}) {
  return catalog<Dataset>().build(fragment<Dataset>(section), context);
}

/// The message of the data error that building gives.
inline std::string data_problem(const nlohmann::json& section, const DataContext& context = {}) {
  try {
    build_data(section, context);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "none";
}

/// One sample in a batch of its own.
struct LoadedSample {
  Batch batch;
  bool good = false;
};

inline LoadedSample load_one(const Dataset& data, Split split, std::int64_t index) {
  LoadedSample loaded{data.allocate(split, 1)};
  loaded.good = data.load(split, index, {}, loaded.batch, 0);
  return loaded;
}

}  // namespace ddptrain
