#include "runs/newer_version.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/version.h"
#include "runs/state_json.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

std::string refusal_of(const std::string& folder) try {
  refuse_newer_run(folder);
  return "";
} catch (const Error& error) {
  EXPECT_EQ(error.code(), Exit::data);
  return error.what();
}

TEST(NewerRuns, AreRefusedByTheirVersion) {
  const TemporaryFolder run;
  run.write("run.json", R"({"format": 1, "ddptrain": "99.1.0"})");
  EXPECT_EQ(refusal_of(run.path()),
            "'" + run.path() + "' was written by ddptrain 99.1.0 and cannot be read by this one, " +
                version() + "; install a version that is at least as new");
}

TEST(NewerRuns, AreRefusedByTheirFormat) {
  const TemporaryFolder run;
  run.write("run.json", R"({"format": 2, "ddptrain": null})");
  EXPECT_EQ(refusal_of(run.path()), "'" + run.path() +
                                        "' was written by ddptrain of a newer version and cannot "
                                        "be read by this one, " +
                                        version() + "; install a version that is at least as new");
}

TEST(NewerRuns, AreNotThoseOfOursAndOfOlderVersions) {
  const TemporaryFolder run;
  EXPECT_EQ(refusal_of(run.path()), "") << "a folder without a record";
  for (const std::string& theirs :
       {"\"" + version() + "\"", std::string(R"("0.0.9")"), std::string(R"("0.1.99")"),
        std::string("null"), std::string(R"("unknown")")}) {
    run.write("run.json", R"({"format": 1, "ddptrain": )" + theirs + "}");
    EXPECT_EQ(refusal_of(run.path()), "") << theirs;
  }
  run.write("run.json", "{ torn");
  EXPECT_EQ(refusal_of(run.path()), "");
}

TEST(NewerCheckpoints, AreRefusedByTheFormatOfTheirState) {
  SavedState state;
  state.format = 2;
  try {
    saved_state_of(to_text(state));
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "state.json of a checkpoint has format 2 and needs a newer ddptrain; this one reads "
              "up to format 1");
  }
}

}  // namespace
}  // namespace ddptrain
