#include "jobs/data/data_tokens.h"

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "data/tokens/token_dataset.h"
#include "recipe/targets.h"
#include "sources/tokens/token_file.h"
#include "train/build/build.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

/// Blocks that any documents fit into: a file has all of them, whatever the recipe's are.
Recipe without_blocks(Recipe recipe) {
  auto data = recipe.data.node();
  auto blocks = Node::map();
  blocks.set("layout", Node::scalar("packed"));
  blocks.set("long", Node::scalar("cut"));
  data.set("blocks", std::move(blocks));
  recipe.data.choose(std::move(data));
  return recipe;
}

void write_split(const TokenData& data, std::size_t split, const std::string& path) {
  const auto& source = *data.splits[split];
  write_token_file(path, source, data.vocabulary);
  std::int64_t tokens = 0;
  for (std::int64_t i = 0; i < source.documents(); ++i) tokens += source.length(i);
  log::info("wrote {} of {} into {}", plural(tokens, "token"),
            plural(source.documents(), "document"), path);
}

}  // namespace

void write_tokens(const Recipe& recipe, const std::string& folder) {
  if (written_target(recipe, all_catalogs()) != TargetKind::tokens)
    throw Error(Exit::recipe, Option{"data"},
                "'{}' gives no tokens; write a dataset of texts with 'task: language_model'",
                recipe.data.type());
  const auto dataset = build_data(without_blocks(recipe));
  const auto* tokens = dynamic_cast<const HasTokens*>(dataset.get());
  DDP_CHECK(tokens != nullptr, "data of tokens have some");
  make_folders(folder);
  write_split(tokens->token_data(), 0, folder + "/train.tokens");
  write_split(tokens->token_data(), 1, folder + "/valid.tokens");
}

}  // namespace ddptrain
