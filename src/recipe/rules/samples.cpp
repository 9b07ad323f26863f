// Texts that are written at each evaluation.
#include "base/text.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

void samples_are_texts(const RuleContext& rule) {
  const auto& model = rule.recipe.model;
  if (!rule.recipe.eval.samples || !rule.entry(model) || rule.has(model, "continues_texts")) return;
  rule.error("eval.samples",
             "model '{}' writes no text; leave 'samples' out, or train a language model",
             model.type());
}

void samples_are_written_forwards(const RuleContext& rule) {
  const auto* blocks = rule.recipe.data.node().find("blocks");
  if (!rule.recipe.eval.samples || !blocks || !is_true(blocks->find("backwards"))) return;
  rule.error("eval.samples",
             "with 'data.blocks.backwards' the model reads texts from their end, and would write "
             "what comes before a prompt; leave 'samples' out");
}

void prompts_have_text(const RuleContext& rule) {
  const auto& samples = rule.recipe.eval.samples;
  if (!samples || !samples->prompts.value) return;
  const auto& prompts = *samples->prompts.value;
  for (std::size_t i = 0; i < prompts.size(); ++i)
    if (trim(prompts[i]).empty())
      rule.error(indexed("eval.samples.prompts", i),
                 "the prompt is empty; write a text for the model to continue");
}

constexpr Rule kSampleRules[] = {
    {{"samples-model", "Texts are written by a language model.",
      "Others give classes, numbers or masks; 'ddptrain predict' shows those.",
      "eval: {samples: {tokens: 20}}", "eval: {batch: 64}"},
     samples_are_texts},
    {{"samples-direction", "A text is written from its beginning.",
      "A model of texts that are read from their end predicts the token before.",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model, blocks: "
      "{backwards: true}}\neval: {samples: {tokens: 20}}",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model}\n"
      "eval: {samples: {tokens: 20}}"},
     samples_are_written_forwards},
    {{"samples-prompts", "A prompt has text.", "A model continues what it has read.",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model}\n"
      "eval: {samples: {prompts: [The film, '']}}",
      "model: awd_lstm_lm\ndata: {type: text_csv, file: texts.csv, task: language_model}\n"
      "eval: {samples: {prompts: [The film]}}"},
     prompts_have_text},
};

}  // namespace

std::vector<Rule> sample_rules() { return {std::begin(kSampleRules), std::end(kSampleRules)}; }

}  // namespace ddptrain
