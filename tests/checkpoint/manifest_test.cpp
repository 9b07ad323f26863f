#include "checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files/digest.h"

namespace ddptrain {
namespace {

/// With the digest that the text wants.
std::string signed_text(std::string text) {
  const std::string zeros(64, '0');
  const auto at = text.find(zeros);
  return text.replace(at, 64, sha256(text));
}

std::string manifest(const std::string& step, const std::string& size) {
  return signed_text(
      "{\"format\": 1, \"step\": " + step + ", \"files\": {\"w\": {\"size\": " + size +
      ", \"sha256\": \"\"}}, \"manifest_sha256\": \"" + std::string(64, '0') + "\"}\n");
}

TEST(Manifest, ReadsWholeNumbers) {
  const auto read = parse_manifest(manifest("7", "88"), "MANIFEST.json");
  EXPECT_EQ(read.step, 7);
  ASSERT_EQ(read.files.size(), 1U);
}

TEST(Manifest, RefusesOtherNumbers) {
  const auto refused = [](const std::string& step, const std::string& size,
                          const std::string& message) {
    EXPECT_THAT([&] { parse_manifest(manifest(step, size), "M"); },
                testing::ThrowsMessage<Error>(message));
  };
  refused("73e40", "88", "'M' has a step that is not a whole number: 7.3e+41");
  refused("7.5", "88", "'M' has a step that is not a whole number: 7.5");
  refused("-1", "88", "'M' has a step that is not a whole number: -1");
  refused("7", "1e99", "'M' has a size that is not a whole number: 1e+99");
}

std::string refused_manifest(const std::string& members) {
  const auto text =
      signed_text("{" + members + "\"manifest_sha256\": \"" + std::string(64, '0') + "\"}\n");
  try {
    parse_manifest(text, "M");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "";
}

TEST(Manifest, OfAnotherFormatIsRefused) {
  EXPECT_EQ(refused_manifest("\"format\": 4, "),
            "'M' has format 4 and needs a newer ddptrain; this one reads formats 1 to 3");
  EXPECT_THAT(refused_manifest(""), testing::StartsWith("'M' is no manifest of a checkpoint: "));
}

TEST(Manifest, NamesNoFileOutsideItsFolder) {
  const std::string sized = "\": {\"size\": 1, \"sha256\": \"\"}}, ";
  for (const std::string name : {"../w", "/w", ".w", ""})
    EXPECT_EQ(refused_manifest("\"format\": 1, \"step\": 1, \"files\": {\"" + name + sized),
              "'M' names a file outside its folder: '" + name + "'");
}

}  // namespace
}  // namespace ddptrain
