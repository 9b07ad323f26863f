#include "jobs/generate/text_model.h"

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "config/shape.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "jobs/saved_model.h"
#include "models/stored_state.h"
#include "recipe/targets.h"
#include "train/build/build.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

struct TokenizerSection {
  Choice<Tokenizer> tokenizer;
  void fields(Fields& f) { f("tokenizer", tokenizer, {.doc = "Text to tokens."}); }
};

/// As the recipe has it; where it leaves it out, as the checkpoint describes it.
Node tokenizer_node(const TextModelJob& job, const FittedTokens& fitted) {
  const auto* written = job.recipe.data.node().find("tokenizer");
  Node node = written && !written->is_null() ? *written : fitted.options;
  if (node.is_scalar()) node = Choice<Tokenizer>(node.text).node();
  if (!job.tokenizer.empty()) node.set("file", Node::quoted_text(job.tokenizer));
  return node;
}

Choice<Tokenizer> tokenizer_of(const TextModelJob& job, const FittedTokens& fitted) {
  const auto node = tokenizer_node(job, fitted);
  auto section = Node::map();
  section.set("tokenizer", node);
  const auto problems = check(section, shape_of<TokenizerSection>(), all_catalogs());
  if (has_errors(problems))
    throw Error(Exit::recipe, Option{"data." + problems.front().path},
                problems.front().message +
                    "; '--tokenizer FILE' names the file of the tokenizer that the run had");
  Choice<Tokenizer> tokenizer;
  tokenizer.choose(node);
  return tokenizer;
}

std::unique_ptr<TextCodec> codec_of(const TextModelJob& job, const SavedData& saved) {
  if (!is_text_state(saved.fitted))
    throw Error(Exit::recipe, "model '" + job.recipe.model.type() +
                                  "' writes no text, since its run reads none; 'ddptrain predict' "
                                  "gives its predictions");
  auto fitted = fitted_tokens_of(saved.fitted);
  const auto tokenizer = tokenizer_of(job, fitted);
  return std::make_unique<TextCodec>(tokenizer, std::move(fitted));
}

/// The value of a key of data.blocks, whose shorthand is `layout`; null where none is written.
const Node* block_option(const Recipe& recipe, std::string_view key) {
  const auto* blocks = recipe.data.node().find("blocks");
  if (!blocks || blocks->is_null()) return nullptr;
  if (blocks->is_scalar()) return key == "layout" ? blocks : nullptr;
  return blocks->find(key);
}

bool is_option(const Recipe& recipe, std::string_view key, std::string_view value,
               std::string_view otherwise) {
  const auto* written = block_option(recipe, key);
  return (written ? std::string_view(written->text) : otherwise) == value;
}

DataFacts facts_of(const Recipe& recipe, const TextCodec& codec,
                   const std::vector<std::string>& classes) {
  DataFacts facts;
  facts.classes = classes;
  facts.cardinalities = {codec.size()};
  facts.padding = codec.padding();
  if (written_target(recipe, all_catalogs()) != TargetKind::tokens) return facts;
  facts.tokens =
      TokenFacts{codec.detokenizer().token_bytes(), gives_streams(recipe, all_catalogs()),
                 is_option(recipe, "layout", "packed", "streams")};
  return facts;
}

}  // namespace

TextModel::TextModel(const TextModelJob& job, const Placement& placement, World& world)
    : recipe_(job.recipe) {
  if (is_option(recipe_, "backwards", "true", "false"))
    throw Error(Exit::recipe, Option{"data.blocks.backwards"},
                "the model reads texts from their end, and would write what comes before a prompt; "
                "generate with a run that reads forwards");
  const auto saved = load_saved_model(job.checkpoint);
  codec_ = codec_of(job, saved.data);
  auto single = recipe_;
  single.parallel.mode = Mode::none;
  engine_ = build_engine(single, placement, world, facts_of(recipe_, *codec_, saved.data.classes));
  restore(saved.weights, stored_state(engine_->model()), "the model");
  generator_ = std::make_unique<Generator>(engine_->model(), recipe_.model.type());
}

TextModel::~TextModel() = default;

std::vector<std::int64_t> TextModel::ends() const {
  auto ends = codec_->marks();
  const auto* end = block_option(recipe_, "end");
  const auto number = end && !end->is_null() ? codec_->number(end->text) : -1;
  if (number >= 0) ends.push_back(number);
  return ends;
}

}  // namespace ddptrain
