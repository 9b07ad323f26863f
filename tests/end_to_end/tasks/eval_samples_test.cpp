// eval.samples: texts that a run writes at its evaluations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kHostile = "<script>alert(1)</script> & one";

/// A run that learns to count, in 40 steps with two evaluations, and writes behind two prompts.
class EvalSamples : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string> numbers{"one", "two", "three", "four", "five"};
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (int word = 0; word < 40; ++word)
        text += numbers[static_cast<std::size_t>((i + word) % 5)] + " ";
      write(folder_ / "texts/train/" + std::to_string(100 + i) + ".txt", text);
    }
    write(folder_ / "count.yaml",
          "recipe: 1\n"
          "data: {type: text_folder, root: texts, task: language_model, valid: {fraction: 0.2}, "
          "cache: cache, vocabulary: {min_freq: 1}, blocks: {length: 16}}\n"
          "model: {type: awd_lstm_lm, emb_sz: 16, n_hid: 32, n_layers: 1, drop_mult: 0.5}\n"
          "metrics: [perplexity]\n"
          "optimizer: {type: adam, lr: 0.02}\n"
          "batch: {global: 8, accumulate: 2}\n"
          "train: {duration: 40 steps, threads: 1, ema: {decay: 0.5}}\n"
          "eval:\n"
          "  every: 20 steps\n"
          "  samples: {prompts: [one two, '" +
              kHostile +
              "'], tokens: 6, temperature: 0.8, seed: 3}\n"
              "parallel: {device: cpu}\n"
              "output: {dir: runs}\n");
  }

  Ended train(const std::string& name, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", "count.yaml", "name=" + name});
    return run(more, folder_.path());
  }

  std::vector<json> texts_of(const std::string& name) const {
    std::vector<json> found;
    for (const auto& line : split(read(folder_ / "runs/" + name + "/001/events.jsonl"), '\n')) {
      if (line.empty()) continue;
      const auto event = json::parse(line);
      if (event.at("event") == "texts")
        found.push_back({{"step", event.at("step")}, {"texts", event.at("texts")}});
    }
    return found;
  }

  std::string last_file(const std::string& name, const std::string& file) const {
    return read(folder_ / "runs/" + name + "/001/checkpoints/step-00000040/" + file);
  }

  Folder folder_;
};

TEST_F(EvalSamples, AreWhatGenerateWritesWithTheSameWeights) {
  const auto trained = train("one");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto events = texts_of("one");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].at("step"), 20);
  const auto& texts = events[1].at("texts");
  ASSERT_EQ(texts.size(), 4u);  // of the weights, and of their average
  EXPECT_EQ(texts[2].at("weights"), "valid_ema");
  const auto written = run({"generate", "runs/one/001", "one two", kHostile, "--tokens", "6",
                            "--temperature", "0.8", "--seed", "3", "--json"},
                           folder_.path());
  ASSERT_EQ(written.code, 0) << written.err;
  const auto lines = split(written.out, '\n');
  for (std::size_t i = 0; i < 2; ++i) {
    auto text = texts[i];
    EXPECT_EQ(text.at("weights"), "valid");
    text.erase("weights");
    EXPECT_EQ(text, json::parse(lines[i]));
  }
}

TEST_F(EvalSamples, AreShownInLogAndReport) {
  const auto trained = train("shown", {"train.ema=null"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const std::string text = texts_of("shown").at(1).at("texts")[0].at("text");
  EXPECT_THAT(trained.err, HasSubstr("step 40  valid > one two\nstep 40  valid |" + text + "\n"));
  const auto html = read(folder_ / "runs/shown/001/report.html");
  EXPECT_THAT(html, HasSubstr("<h2>Texts</h2>"));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt; &amp; one"));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, HasSubstr("<bdi>valid/perplexity</bdi>"));
  EXPECT_THAT(html, HasSubstr("<bdi class=\"text\">" + text + "</bdi>"));
}

TEST_F(EvalSamples, ChangeNoWeight) {
  ASSERT_EQ(train("with").code, 0);
  ASSERT_EQ(train("without", {"eval.samples=null"}).code, 0);
  EXPECT_TRUE(texts_of("without").empty());
  for (const auto* file : {"model.safetensors", "ema.safetensors", "optimizer.safetensors"})
    EXPECT_TRUE(last_file("with", file) == last_file("without", file)) << file;
}

TEST_F(EvalSamples, AreTheSameOnTwoRanks) {
  ASSERT_EQ(train("alone").code, 0);
  const auto two = train("two", {"parallel.mode=ddp", "parallel.devices=2", "batch.accumulate=1"});
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(texts_of("alone").size(), 2u);
  EXPECT_EQ(texts_of("alone"), texts_of("two"));
}

// Sums in order of ranks, so that weights are the same bits; one text ends before the others.
TEST_F(EvalSamples, AreThoseOfDdpWhereRanksShareTheModel) {
  const std::string gpt2 = "model={type: gpt2, n_embd: 16, n_layer: 2, n_head: 2, n_positions: 32}";
  const std::string stops = "eval.samples={prompts: [one two, three], tokens: 6, stop: four}";
  for (const auto& model : {std::string("model.n_layers=2"), gpt2}) {
    const auto texts_in = [&](const std::string& mode, const std::string& precision) {
      const auto name = mode + precision + (model == gpt2 ? "-gpt2" : "-lstm");
      const auto ended = train(
          name, {model, stops, "parallel.mode=" + mode, "parallel.devices=2",
                 "parallel.sums=ordered", "batch.accumulate=1", "train.precision=" + precision});
      EXPECT_EQ(ended.code, 0) << ended.err;
      return texts_of(name);
    };
    for (const auto* precision : {"fp32", "bf16"}) {
      const auto expected = texts_in("ddp", precision);
      EXPECT_EQ(expected.size(), 2u);
      for (const auto* mode : {"zero2", "fsdp"})
        EXPECT_EQ(texts_in(mode, precision), expected) << mode << model << precision;
    }
  }
}

TEST_F(EvalSamples, ContinueTheBeginningsOfValidationDocuments) {
  const auto trained = train("auto", {"eval.samples=2"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto events = texts_of("auto");
  ASSERT_EQ(events.size(), 2u);
  const auto& texts = events[1].at("texts");
  ASSERT_EQ(texts.size(), 4u);
  std::string documents;
  for (const auto& file : list(folder_ / "texts/train"))
    documents += read(folder_ / "texts/train/" + file);
  for (const auto& text : texts) {
    const std::string prompt = text.at("prompt");
    EXPECT_GT(prompt.size(), 20u);
    EXPECT_THAT(documents, HasSubstr(prompt));
    EXPECT_LE(text.at("tokens"), 64);
    EXPECT_EQ(text.at("tokens") == 64, text.at("end") == "length") << text;
  }
}

TEST_F(EvalSamples, ContinueABeginningUpToItsFirstUnknownWord) {
  char last = 'a';
  for (const auto& file : list(folder_ / "texts/train")) {
    const auto path = folder_ / "texts/train/" + file;
    write(path, std::string("one two zeb") + last++ + " " + read(path));
  }
  const auto trained = train("rare", {"eval.samples=2", "data.vocabulary.min_freq=2"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  for (const auto& event : texts_of("rare"))
    for (const auto& text : event.at("texts")) EXPECT_EQ(text.at("prompt"), "one two");
}

class SamplesOfGpt2 : public EvalSamples {
 protected:
  /// With room for 12 tokens.
  Ended start(const std::string& samples) {
    return train("gpt2", {"model={type: gpt2, n_layer: 1, n_head: 2, n_embd: 16, n_positions: 12}",
                          "data.blocks={layout: shuffled, length: 12}", "train.duration=2 steps",
                          "train.ema=null", "eval.samples=" + samples});
  }
};

TEST_F(SamplesOfGpt2, FillItsPositions) {
  const auto trained = start("{prompts: [one two three]}");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const std::int64_t tokens = texts_of("gpt2").at(0).at("texts")[0].at("tokens");
  EXPECT_LE(tokens, 8);  // behind three words and the mark before them
}

TEST_F(SamplesOfGpt2, ThatDoNotFitAreNamedBeforeTraining) {
  const auto prompt =
      start("{prompts: [one, one two three four five one two three four five one two]}");
  EXPECT_EQ(prompt.code, 2);
  EXPECT_THAT(prompt.err, HasSubstr("eval.samples.prompts[1]: the prompt has 13 tokens, and model "
                                    "'gpt2' reads 12 with those that it writes"));
  const auto tokens = start("{prompts: [one two], tokens: 20}");
  EXPECT_EQ(tokens.code, 2);
  EXPECT_THAT(tokens.err, HasSubstr("eval.samples.tokens: prompt 1 has 3 tokens, and 20 more are "
                                    "23 together, but model 'gpt2' reads 12 at most; 9 fit"));
}

TEST_F(SamplesOfGpt2, ThatCannotContinueAreAWarning) {
  const auto trained = start("{prompts: [one two], no_repeat_ngram: 1, tokens: 9}");
  EXPECT_EQ(trained.code, 0) << trained.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
