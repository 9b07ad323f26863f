// Samples of a language model.
#include "recipe/rules/rules.h"
#include "recipe/targets.h"

namespace ddptrain {
namespace {

bool are_streams(const RuleContext& rule) { return gives_streams(rule.recipe, rule.catalogs); }

void streams_are_drawn_in_order(const RuleContext& rule) {
  const auto& sampler = rule.data.sampler;
  if (!are_streams(rule) || rule.has(sampler, "in_order") || sampler.type() == "shuffle") return;
  rule.error("data.sampler",
             "'{}' would draw pieces of streams that do not continue each other; documents are "
             "shuffled anyway: leave it out, or write 'data.blocks: shuffled'",
             sampler.type());
}

void streams_keep_their_rows(const RuleContext& rule) {
  if (are_streams(rule) && rule.data.loader.shard != Layout::global_batch)
    rule.error("data.loader.shard",
               "another layout than global_batch gives a row's next piece to another row, and a "
               "stream would not be continued; write 'global_batch'");
}

void packed_documents_are_read_apart(const RuleContext& rule) {
  const auto* blocks = rule.recipe.data.node().find("blocks");
  if (blocks == nullptr || !rule.has(rule.recipe.model, "continues_texts")) return;
  const auto* layout = blocks->is_map() ? blocks->find("layout") : blocks;
  if (layout == nullptr || layout->text != "packed") return;
  if (!rule.has(rule.recipe.model, "reads_documents"))
    rule.error("data.blocks",
               "'{}' would read the documents of a packed block as one text; write 'layout: "
               "streams' or 'layout: shuffled'",
               rule.recipe.model.type());
}

void blocks_are_of_tokens(const RuleContext& rule) {
  const auto* blocks = rule.recipe.data.node().find("blocks");
  const auto target = written_target(rule.recipe, rule.catalogs);
  if (blocks == nullptr || blocks->is_null() || !target || *target == TargetKind::tokens) return;
  rule.error("data.blocks",
             "'blocks' makes samples of a language model; write 'task: language_model'");
}

void language_models_turn_blocks(const RuleContext& rule) {
  const auto target = written_target(rule.recipe, rule.catalogs);
  if (!target || *target != TargetKind::tokens) return;
  if (is_true(rule.value(rule.recipe.data, "backwards")))
    rule.error("data.backwards",
               "a language model predicts the next token of its blocks; write 'blocks: {backwards: "
               "true}'");
}

constexpr Rule kTokenRules[] = {
    {{"backwards-task", "A language model that reads backwards has backward blocks.",
      "'backwards' turns texts that are classified.",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model, "
      "backwards: true}",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model, blocks: "
      "{backwards: true}}"},
     language_models_turn_blocks},
    {{"blocks-task", "Blocks are samples of a language model.",
      "A text that is classified is one sample.",
      "model: bag_of_embeddings\ndata: {type: text_csv, file: texts.csv, blocks: shuffled}",
      "model: bag_of_embeddings\ndata: {type: text_csv, file: texts.csv}"},
     blocks_are_of_tokens},
    {{"stream-order", "Streams of tokens are drawn in their own order.",
      "A row continues that of the batch before, whose state the model still has. The documents "
      "are in another order in each epoch, whatever the sampler.",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model, sampler: "
      "length_sorted}",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model}"},
     streams_are_drawn_in_order},
    {{"stream-rows", "A stream of tokens keeps its row of the global batch.",
      "Other layouts deal samples to ranks one after the other, so that the rows of two steps are "
      "not of the same streams.",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model, loader: "
      "{shard: split}}",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model}"},
     streams_keep_their_rows},
    {{"packed-documents", "Documents of a packed block are read apart.",
      "An LSTM's state goes from one document to the next, and so would what it learns.",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model, blocks: "
      "packed}",
      "model: gpt2\ndata: {type: text_csv, file: texts.csv, task: language_model, blocks: packed}"},
     packed_documents_are_read_apart},
};

}  // namespace

std::vector<Rule> token_rules() { return {std::begin(kTokenRules), std::end(kTokenRules)}; }

}  // namespace ddptrain
