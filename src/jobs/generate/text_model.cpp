#include "jobs/generate/text_model.h"

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "jobs/run_texts.h"
#include "jobs/saved_model.h"
#include "models/stored_state.h"
#include "recipe/targets.h"
#include "train/build/build.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

DataFacts facts_of(const Recipe& recipe, const TextCodec& codec,
                   const std::vector<std::string>& classes) {
  DataFacts facts;
  facts.classes = classes;
  facts.cardinalities = {codec.size()};
  facts.padding = codec.padding();
  if (written_target(recipe, all_catalogs()) != TargetKind::tokens) return facts;
  facts.tokens =
      TokenFacts{codec.detokenizer().token_bytes(), gives_streams(recipe, all_catalogs()),
                 is_block_option(recipe, "layout", "packed", "streams")};
  return facts;
}

}  // namespace

TextModel::TextModel(const TextModelJob& job, const Placement& placement, World& world)
    : recipe_(job.recipe) {
  if (is_block_option(recipe_, "backwards", "true", "false"))
    throw Error(Exit::recipe, Option{"data.blocks.backwards"},
                "the model reads texts from their end, and would write what comes before a prompt; "
                "generate with a run that reads forwards");
  const auto saved = load_saved_model(job.checkpoint);
  codec_ = codec_of(recipe_, saved.data.fitted, job.tokenizer);
  auto single = recipe_;
  single.parallel.mode = Mode::none;
  engine_ = build_engine(single, placement, world, facts_of(recipe_, *codec_, saved.data.classes));
  restore(saved.weights, stored_state(engine_->model()), "the model");
  generator_ = std::make_unique<Generator>(engine_->model(), recipe_.model.type());
}

TextModel::~TextModel() = default;

std::vector<std::int64_t> TextModel::ends() const { return text_ends(recipe_, *codec_); }

}  // namespace ddptrain
