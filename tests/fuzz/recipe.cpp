// A recipe's text through reading, layering, checking, decoding, the rules between its parts and
// the messages.
#include "base/error.h"
#include "config/encode.h"
#include "config/yaml/reader.h"
#include "input_file.h"
#include "recipe/catalogs.h"
#include "recipe/load/load.h"
#include "recipe/rules/rules.h"

using namespace ddptrain;

namespace {

/// What was read and written again reads as the same.
void claim_round_trip(std::string_view text) {
  const auto read = read_yaml(text, "input.yaml");
  if (!read.problems.empty()) return fuzz::claim(read.problems.size() == 1, "one syntax error");
  const auto written = to_yaml(read.tree);
  const auto again = read_yaml(written, "again.yaml");
  if (written.size() > ReadLimits{}.bytes) return;  // aliases written out
  fuzz::claim(again.problems.empty(), "what was written can be read:\n" + written);
  fuzz::claim(to_yaml(again.tree) == written, "what was written reads as the same:\n" + written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  claim_round_trip(text);
  const fuzz::InputFile file(text);
  const auto loaded = load_recipe({file.path()}, {}, testing_recipes::catalogs());
  render(loaded.problems);
  if (has_errors(loaded.problems)) return 0;
  for (const std::int64_t devices : {1, 4})
    render(check_batch(loaded.recipe, loaded.tree, devices));
  auto recipe = loaded.recipe;
  to_yaml(encode(recipe, &testing_recipes::catalogs()));
  return 0;
}
