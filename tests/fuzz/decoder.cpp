// A recipe's text against every component that there is: checks, suggestions, options decoded, the
// rules between parts, and the formats of problems.
#include "base/files/files.h"
#include "cli/documents/components.h"
#include "config/complete.h"
#include "config/encode.h"
#include "config/formats/problem_formats.h"
#include "input_file.h"
#include "recipe/load/load.h"
#include "recipe/rules/rule_docs.h"

using namespace ddptrain;

namespace {

const Catalogs& catalogs() {
  static const std::string text = read_text(DDPTRAIN_SOURCE "/schemas/components.json");
  static const Components components(text);
  return components.catalogs();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const fuzz::InputFile file(fuzz::text_of(data, size));
  const auto loaded = load_recipe({file.path()}, {}, catalogs());
  render(loaded.problems);
  render_json(loaded.problems);
  render_jsonl(loaded.problems);
  render_github(loaded.problems);
  render_sarif(loaded.problems, all_rule_docs());
  if (has_errors(loaded.problems)) return 0;
  auto recipe = loaded.recipe;
  const auto full = to_yaml(encode(recipe, &catalogs()));
  const auto least = to_yaml(without_defaults(loaded.tree, shape_of<Recipe>(), catalogs()));
  fuzz::claim(!full.empty() && !least.empty(), "a good recipe can be shown");
  return 0;
}
