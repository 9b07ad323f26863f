// The man page and the recipe reference are those that the program writes.
#include "cli/documents/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/files.h"
#include "cli/cli_output.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

TEST(Documents, OfTheRepositoryAreThoseThatTheProgramWrites) {
  EXPECT_TRUE(read_text(test::in_source("docs/ddptrain.1")) == manual_text(engine_program()))
      << "out of date; repair: make generate";
  EXPECT_TRUE(read_text(test::in_source("docs/reference.md")) ==
              reference_text(*engine_program().catalogs))
      << "out of date; repair: make generate";
}

TEST(Documents, TheManualHasEveryVerbAndFlag) {
  const auto manual = manual_text(engine_program());
  for (const auto& verb : engine_program().verbs) {
    std::string name;
    for (const char c : verb.name) name += c == '-' ? "\\-" : std::string(1, c);
    EXPECT_THAT(manual, HasSubstr(".SS ddptrain " + name));
  }
  EXPECT_THAT(manual, HasSubstr("\n.B \\-\\-why KEY\n"));
}

TEST(Documents, TheReferenceHasEveryComponent) {
  const auto reference = reference_text(*engine_program().catalogs);
  for (const auto& [kind, catalog] : *engine_program().catalogs)
    for (const auto& name : catalog->names())
      EXPECT_THAT(reference, HasSubstr("\n### " + kind + " " + name + "\n"));
  EXPECT_THAT(
      reference,
      HasSubstr(
          "| `batch.micro` | integer (samples), at least 1, or auto | "
          "`auto` | Samples per device and forward pass; auto takes what global and accumulate "
          "leave, halved until it fits where a CUDA device has no memory for it. |\n"));
}

}  // namespace
}  // namespace ddptrain
