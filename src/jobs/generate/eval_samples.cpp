#include "jobs/generate/eval_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "data/tokens/token_dataset.h"
#include "distributed/engine.h"
#include "generation/text_writer.h"
#include "jobs/run_texts.h"
#include "train/training.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kBeginning = 16;  // tokens of a document that are a prompt
constexpr auto kValid = static_cast<std::size_t>(Split::valid);

/// Up to the first unknown word, whose text is not known.
std::string beginning_of_document(const TokenSource& source, std::int64_t document,
                                  const TextCodec& codec, std::int64_t tokens) {
  const auto length = std::min(tokens, source.length(document));
  std::vector<std::int64_t> ids(static_cast<std::size_t>(length));
  source.copy({document, 0, length}, ids);
  TextStream stream(codec.detokenizer());  // without a character whose bytes are cut
  std::string text;
  for (const auto id : ids) {
    if (id == codec.unknown()) break;
    text += stream.add(static_cast<std::int32_t>(id));
  }
  return std::string(trim(text));
}

std::vector<std::string> sample_prompts(Training& t, const TextCodec& codec) {
  const auto& spec = *t.recipe.eval.samples;
  if (spec.prompts.value) return *spec.prompts.value;
  const auto most = t.engine->model().positions();
  auto prompts = beginnings_of(*t.data, codec, spec.count.value_or(SamplesSpec::kDocuments),
                               most ? std::min(kBeginning, *most / 2) : kBeginning);
  if (!prompts.empty()) return prompts;
  throw Error(Exit::data, Option{"eval.samples.prompts"},
              "no document of the validation split has text; write prompts");
}

Error at_prompt(std::size_t index, const std::string& message) {
  return {Exit::recipe, Option{fmt::format("eval.samples.prompts[{}]", index)}, message};
}

Prompt encoded_prompt(const TextCodec& codec, const std::string& text, std::size_t index) {
  try {
    return {codec.encode(text), static_cast<std::int64_t>(index)};
  } catch (const Error& error) {
    throw at_prompt(index, error.message());
  }
}

/// How many tokens each text has at most.
std::int64_t fitting_tokens(const SamplesSpec& spec, const Generator& generator,
                            const TextCodec& codec, const std::vector<std::string>& texts) {
  std::vector<Prompt> prompts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    prompts.push_back(encoded_prompt(codec, texts[i], i));
    if (const auto why = generator.misfit(prompts[i], {}); !why.empty())
      throw at_prompt(i, "the prompt " + why);
    if (const auto why = generator.misfit(prompts[i], spec.tokens.value); !why.empty())
      throw Error(Exit::recipe, Option{"eval.samples.tokens"}, "prompt {} {}", i + 1, why);
  }
  const auto room = generator.room(prompts);
  return spec.tokens.value.value_or(
      std::min(SamplesSpec::kTokens, room.value_or(SamplesSpec::kTokens)));
}

WritingOptions writing_options(const Recipe& recipe, const TextCodec& codec, std::int64_t tokens) {
  const auto& spec = *recipe.eval.samples;
  WritingOptions options{.sampling = spec.sampling,
                         .seed = static_cast<std::uint64_t>(spec.seed),
                         .tokens = tokens,
                         .ends = text_ends(recipe, codec)};
  if (spec.stop) options.stops = {*spec.stop};
  return options;
}

class EvalSamples final : public SampleGenerator {
 public:
  explicit EvalSamples(Training& training)
      : model_(training.engine->model()),
        blocks_(training.engine->continuation_blocks()),
        name_(training.recipe.model.type()),
        codec_(codec_of(training.recipe, training.data->state())),
        prompts_(sample_prompts(training, *codec_)),
        options_(writing_options(training.recipe, *codec_,
                                 fitting_tokens(*training.recipe.eval.samples,
                                                Generator(model_, name_), *codec_, prompts_))) {}

  std::size_t rounds() const override { return static_cast<std::size_t>(*options_.tokens); }

  void begin() override {
    writing_.emplace(model_, name_, blocks_, *codec_, options_);
    writing_->writer.begin(prompts_, 0);
    is_done_ = false;
  }

  bool is_done() const override { return is_done_; }
  void round() override {
    try {
      is_done_ = !writing_->writer.step([](std::size_t, const std::string&, bool) {});
    } catch (const Error& error) {  // no part of a run's result
      log::warning(std::string("eval.samples: no text was written: ") + error.what());
      writing_.reset();
      is_done_ = true;
    }
  }

  GeneratedTexts end() override {
    GeneratedTexts texts;
    if (writing_)
      for (const auto& each : writing_->writer.texts())
        texts.push_back({"", each.prompt, each.text, each.tokens, std::string(name_of(each.end))});
    writing_.reset();  // with the memory of the model
    return texts;
  }

 private:
  struct Writing {
    Writing(Model& model, const std::string& name, Blocks* blocks, const TextCodec& codec,
            const WritingOptions& options)
        : generator(model, name, blocks), writer(generator, codec, options) {}
    Generator generator;
    TextWriter writer;
  };

  Model& model_;
  Blocks* blocks_;  // of ranks that share them
  std::string name_;
  std::unique_ptr<TextCodec> codec_;
  std::vector<std::string> prompts_;
  WritingOptions options_;
  std::optional<Writing> writing_;
  bool is_done_ = false;
};

}  // namespace

std::vector<std::string> beginnings_of(const Dataset& data, const TextCodec& codec,
                                       std::int64_t count, std::int64_t tokens) {
  std::vector<std::string> texts;
  const auto* with_tokens = dynamic_cast<const HasTokens*>(&data);
  if (!with_tokens) return texts;
  const auto& source = *with_tokens->token_data().splits[kValid];
  for (std::int64_t i = 0; i < source.documents() && std::ssize(texts) < count; ++i)
    if (auto text = beginning_of_document(source, i, codec, tokens); !text.empty())
      texts.push_back(std::move(text));
  return texts;
}

std::unique_ptr<SampleGenerator> make_eval_samples(Training& training) {
  if (!training.recipe.eval.samples) return nullptr;
  return std::make_unique<EvalSamples>(training);
}

}  // namespace ddptrain
