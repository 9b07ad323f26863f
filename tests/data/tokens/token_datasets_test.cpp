#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "data/loader/lengths.h"
#include "data/preview.h"
#include "data/text_data.h"
#include "data/tokens/token_dataset.h"
#include "sources/order/shard.h"
#include "sources/tokens/token_file.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Ids = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

/// Lines with the words w0 .. w96, in documents of 1 to 12 words and the token before them.
std::string many_lines(int documents, int shift) {
  std::string lines;
  for (int i = 0; i < documents; ++i) {
    std::string text;
    for (int k = 0; k <= (i * 7 + shift) % 12; ++k)
      text += (k > 0 ? " w" : "w") + std::to_string((i * 31 + k * 17 + shift) % 97);
    lines += json{{"text", text}}.dump() + "\n";
  }
  return lines;
}

json lines_recipe(const TemporaryFolder& folder, json blocks) {
  json recipe{{"type", "text_jsonl"},
              {"file", folder.write("train.jsonl", many_lines(200, 0))},
              {"valid_file", folder.write("valid.jsonl", many_lines(40, 5))},
              {"task", "language_model"},
              {"cache", folder / "cache"},
              {"vocabulary", {{"min_freq", 1}}}};
  if (!blocks.is_null()) recipe["blocks"] = std::move(blocks);
  return recipe;
}

DataContext rows_of(std::int64_t train, std::int64_t valid) {
  DataContext context;
  context.train_rows = train;
  context.valid_rows = valid;
  return context;
}

std::string complaint_about(const json& recipe, const DataContext& context = {}) {
  try {
    make_texts(recipe, context);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

Ids row_ids(const at::Tensor& tensor, std::int64_t row) {
  const auto width = tensor.size(1);
  const auto* first = tensor.const_data_ptr<std::int64_t>() + row * width;
  return {first, first + width};
}

Batch loaded(const Dataset& data, Split split, const Ids& samples, std::int64_t epoch = 0) {
  std::int64_t longest = 0;
  for (const auto sample : samples) longest = std::max(longest, data.length(split, sample));
  auto batch = data.allocate_length(split, std::ssize(samples), longest);
  Draw draw;
  draw.epoch = epoch;
  for (std::int64_t row = 0; row < std::ssize(samples); ++row)
    data.load(split, samples[static_cast<std::size_t>(row)], draw, batch, row);
  return batch;
}

Ids all_samples(const Dataset& data, Split split) {
  Ids samples(static_cast<std::size_t>(data.size(split)));
  std::iota(samples.begin(), samples.end(), 0);
  return samples;
}

/// Tokens of all documents of a split, one after the other.
Ids all_tokens(const Dataset& data, Split split) {
  const auto& source =
      *dynamic_cast<const HasTokens&>(data).token_data().splits[static_cast<std::size_t>(split)];
  Ids all;
  for (std::int64_t i = 0; i < source.documents(); ++i) {
    Ids ids(static_cast<std::size_t>(source.length(i)));
    source.copy({i, 0, std::ssize(ids)}, ids);
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

TEST(TokenDataset, GivesTheNextTokenOfEachPlace) {
  const TemporaryFolder folder;
  const auto data = make_texts(lines_recipe(folder, {{"length", 8}}), rows_of(4, 2));
  const auto& facts = data->facts();
  ASSERT_TRUE(facts.tokens);
  EXPECT_TRUE(facts.tokens->streams);
  EXPECT_FALSE(facts.tokens->documents);
  EXPECT_TRUE(facts.classes.empty());
  const auto vocabulary = json::parse(data->state()).at("vocabulary");
  EXPECT_EQ(facts.cardinalities, (Ids{std::ssize(vocabulary)}));
  EXPECT_EQ(vocabulary.at(static_cast<std::size_t>(facts.padding)), "xxpad");
  // A word of fastai's stands for its bytes and a blank, its special tokens for none.
  const auto of_word = [&](const std::string& word) {
    const auto at = std::find(vocabulary.begin(), vocabulary.end(), word) - vocabulary.begin();
    return facts.tokens->bytes.at(static_cast<std::size_t>(at));
  };
  EXPECT_EQ(facts.tokens->bytes.size(), vocabulary.size());
  EXPECT_EQ(of_word("w31"), 4);
  EXPECT_EQ(of_word("xxbos"), 0);
  EXPECT_EQ(of_word("xxpad"), 0);
  EXPECT_EQ(data->size(Split::train) % 4, 0);
  const auto batch = loaded(*data, Split::valid, {0, 1, 2, 3});
  EXPECT_EQ(batch.inputs.at(0).sizes(), (at::IntArrayRef{4, 8}));
  const auto tokens = all_tokens(*data, Split::valid);
  const auto per_row = (std::ssize(tokens) - 1) / 2;
  for (const std::int64_t row : {0, 1}) {
    const auto begin = tokens.begin() + row * per_row;
    EXPECT_EQ(row_ids(batch.inputs[0], row), Ids(begin, begin + 8));
    EXPECT_EQ(row_ids(batch.targets[0], row), Ids(begin + 1, begin + 9));
    EXPECT_EQ(row_ids(batch.inputs[0], row + 2), Ids(begin + 8, begin + 16)) << "it continues";
  }
}

TEST(TokenDataset, ShortensTheLastPieceOfStreams) {
  const TemporaryFolder folder;
  const auto data = make_texts(lines_recipe(folder, {{"length", 50}}), rows_of(4, 2));
  const auto targets = (std::ssize(all_tokens(*data, Split::train)) - 1) / 4;
  ASSERT_NE(targets % 50, 0);
  const auto last = data->size(Split::train) - 1;
  EXPECT_EQ(data->length(Split::train, last), targets % 50);
  EXPECT_EQ(data->length(Split::train, 0), 50);
  const auto wide = loaded(*data, Split::train, {0, last});
  const auto row = row_ids(wide.inputs[0], 1), learned = row_ids(wide.targets[0], 1);
  for (auto i = static_cast<std::size_t>(targets % 50); i < 50; ++i) {
    EXPECT_EQ(row[i], data->facts().padding);
    EXPECT_EQ(learned[i], -100);
  }
  EXPECT_EQ(longest_first(*data, Split::valid), all_samples(*data, Split::valid))
      << "an evaluation reads streams in order";
}

// A rank reads what its rows of the global batch are, however many ranks there are.
TEST(TokenDataset, GivesTheSameRowsToAnyNumberOfRanks) {
  const TemporaryFolder folder;
  const json layouts[] = {{{"length", 16}},
                          {{"layout", "shuffled"}, {"length", 16}},
                          {{"layout", "packed"}, {"length", 16}}};
  for (const auto& blocks : layouts) {
    const auto data = make_texts(lines_recipe(folder, blocks), rows_of(6, 6));
    std::map<std::int64_t, Ids> rows;
    for (const std::int64_t world : {1, 2, 3})
      for (std::int64_t rank = 0; rank < world; ++rank) {
        ShardPlan plan;
        plan.world = world;
        plan.global = 6;
        const auto steps = shard(data->size(Split::train), plan, rank);
        for (std::size_t step = 0; step < steps.size(); ++step)
          for (const auto& micro : steps[step]) {
            const auto batch = loaded(*data, Split::train, micro.positions, 3);
            for (std::int64_t row = 0; row < std::ssize(micro.positions); ++row) {
              const auto place = static_cast<std::int64_t>(step) * 6 + micro.first_row + row;
              const auto ids = row_ids(batch.inputs[0], row);
              const auto [known, fresh] = rows.emplace(place, ids);
              EXPECT_EQ(known->second, ids) << blocks << place;
              EXPECT_EQ(fresh, world == 1) << blocks << place;
            }
          }
      }
  }
}

TEST(TokenDataset, ReadsDocumentsInAnotherOrderEachEpoch) {
  const TemporaryFolder folder;
  const auto data = make_texts(lines_recipe(folder, nullptr), rows_of(2, 2));
  const auto first = loaded(*data, Split::train, {0, 1}, 0).inputs[0];
  EXPECT_TRUE(first.equal(loaded(*data, Split::train, {0, 1}, 0).inputs[0]));
  EXPECT_FALSE(first.equal(loaded(*data, Split::train, {0, 1}, 1).inputs[0]));
  const auto valid = loaded(*data, Split::valid, {0, 1}, 0).inputs[0];
  EXPECT_TRUE(valid.equal(loaded(*data, Split::valid, {0, 1}, 1).inputs[0]));
}

/// Documents "xxbos a b c", "xxbos d" and "xxbos e" in both splits.
json few_lines(const TemporaryFolder& folder, json blocks) {
  auto recipe = lines_recipe(folder, std::move(blocks));
  for (const auto* file : {"train.jsonl", "valid.jsonl"})
    folder.write(file, "{\"text\": \"a b c\"}\n{\"text\": \"d\"}\n{\"text\": \"e\"}\n");
  return recipe;
}

/// Tokens of a row as words.
Strings words_of_row(const Dataset& data, const Ids& ids) {
  const auto vocabulary = json::parse(data.state()).at("vocabulary");
  Strings words;
  for (const auto id : ids)
    words.push_back(id < 0 ? std::to_string(id)
                           : vocabulary.at(static_cast<std::size_t>(id)).get<std::string>());
  return words;
}

TEST(TokenDataset, PacksDocumentsWithTheirPositions) {
  const TemporaryFolder folder;
  const auto data = make_texts(few_lines(folder, {{"layout", "packed"}, {"length", 6}}));
  EXPECT_TRUE(data->facts().tokens->documents);
  EXPECT_FALSE(data->facts().tokens->streams);
  ASSERT_EQ(data->size(Split::train), 2);
  const auto batch = loaded(*data, Split::train, {0, 1});
  EXPECT_EQ(words_of_row(*data, row_ids(batch.inputs.at(0), 0)),
            (Strings{"xxbos", "a", "b", "c", "xxbos", "d"}));
  EXPECT_EQ(words_of_row(*data, row_ids(batch.targets.at(0), 0)),
            (Strings{"a", "b", "c", "-100", "d", "-100"}));
  EXPECT_EQ(row_ids(batch.inputs.at(1), 0), (Ids{0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(words_of_row(*data, row_ids(batch.inputs[0], 1)),
            (Strings{"xxbos", "e", "xxpad", "xxpad", "xxpad", "xxpad"}));
  EXPECT_EQ(words_of_row(*data, row_ids(batch.targets[0], 1)),
            (Strings{"e", "-100", "-100", "-100", "-100", "-100"}));
  EXPECT_EQ(row_ids(batch.inputs[1], 1), (Ids{0, 1, 0, 0, 0, 0}));
}

TEST(TokenDataset, CutsOrSplitsWhatIsLongerThanABlock) {
  const TemporaryFolder folder;
  EXPECT_THAT(complaint_about(few_lines(folder, {{"layout", "packed"}, {"length", 3}})),
              HasSubstr("train.jsonl:1' with 4; write 'cut' or 'split'"));
  auto blocks = json{{"layout", "packed"}, {"length", 3}, {"long", "split"}};
  const auto data = make_texts(few_lines(folder, blocks));
  const auto batch = loaded(*data, Split::valid, all_samples(*data, Split::valid));
  // xxbos a b | xxbos d c | xxbos e
  EXPECT_EQ(words_of_row(*data, row_ids(batch.inputs[0], 1)), (Strings{"xxbos", "d", "c"}));
  EXPECT_EQ(row_ids(batch.inputs[1], 1), (Ids{0, 1, 0}));
  EXPECT_EQ(words_of_row(*data, row_ids(batch.targets[0], 1)), (Strings{"d", "-100", "-100"}));
}

TEST(TokenDataset, ReadsBackwardsAndPutsATokenBehindEachDocument) {
  const TemporaryFolder folder;
  const json blocks{{"layout", "shuffled"}, {"length", 10}, {"backwards", true}, {"end", "xxeos"}};
  const auto data = make_texts(few_lines(folder, blocks));
  const auto batch = loaded(*data, Split::valid, {0});
  EXPECT_EQ(words_of_row(*data, row_ids(batch.inputs[0], 0)),
            (Strings{"c", "b", "a", "xxbos", "xxeos", "d", "xxbos", "xxeos", "e", "xxbos"}));
  auto wrong = blocks;
  wrong["end"] = "xxeoss";
  EXPECT_THAT(complaint_about(few_lines(folder, wrong)),
              HasSubstr("data.blocks.end: 'xxeoss' is no token of the vocabulary; did you mean "
                        "'xxeos'?"));
}

TEST(TokenDataset, ShowsWhereDocumentsBeginAndWhatIsLearned) {
  const TemporaryFolder folder;
  const auto describe = [](const Dataset& data) {
    std::string text;
    for (const auto& token : data.preview(Split::valid, 0, {}).tokens)
      text += std::string(token.begins ? "|" : "") + token.text + (token.learned ? "+ " : " ");
    return text;
  };
  EXPECT_EQ(describe(*make_texts(few_lines(folder, {{"layout", "packed"}, {"length", 6}}))),
            "|xxbos a+ b+ c+ |xxbos d+ ");
  EXPECT_EQ(describe(*make_texts(few_lines(folder, {{"layout", "shuffled"}, {"length", 4}}))),
            "|xxbos a+ b+ c+ |xxbos+ ");
}

TEST(TokenDataset, ReadsNoLabels) {
  const TemporaryFolder folder;
  auto recipe = few_lines(folder, {{"layout", "shuffled"}, {"length", 3}});
  recipe["label"] = "none of that name";
  EXPECT_EQ(make_texts(recipe)->label(Split::train, 0), -1);
  recipe["type"] = "text_csv";
  recipe.erase("valid_file");
  recipe["file"] = folder.write("texts.csv", "text,part\na b c,train\nd,train\ne f g,valid\n");
  recipe["valid"] = {{"column", "part"}};
  const auto data = make_texts(recipe);
  EXPECT_EQ(all_tokens(*data, Split::train).size(), 6U);
  EXPECT_EQ(all_tokens(*data, Split::valid).size(), 4U);
}

TEST(TokenDataset, ReadsAllFoldersOrNone) {
  const TemporaryFolder folder;
  write_reviews(folder);
  folder.write("train/unsup/0.txt", "of unknown class");
  auto recipe = text_recipe(folder);
  recipe["task"] = "language_model";
  recipe["blocks"] = {{"layout", "shuffled"}, {"length", 3}};
  const auto count = [&] {
    const auto data = make_texts(recipe);
    return dynamic_cast<const HasTokens&>(*data).token_data().splits[0]->documents();
  };
  EXPECT_EQ(count(), 5);
  recipe["ignore"] = {"unsup"};
  EXPECT_EQ(count(), 4);
  folder.write("train/list.txt", "a list of files");
  EXPECT_THAT(complaint_about(recipe), HasSubstr("train/list.txt' is a file next to"));
  recipe["ignore"] = {"unsup", "list*"};
  EXPECT_EQ(count(), 4);
  const TemporaryFolder flat;
  for (const std::string file : {"train/a.txt", "train/b.txt", "valid/c.txt"})
    flat.write(file, "a text of words");
  flat.write("train/notes.md", "no text");
  recipe["root"] = flat.path();
  EXPECT_EQ(count(), 2);
}

TEST(TokenDataset, NeedsATokenForEachStream) {
  const TemporaryFolder folder;
  const auto recipe = few_lines(folder, nullptr);
  EXPECT_THAT(complaint_about(recipe, rows_of(8, 1)),
              HasSubstr("batch.global: split 'train' has 8 tokens, and a batch of 8 streams needs "
                        "9"));
  EXPECT_THAT(complaint_about(recipe, rows_of(1, 8)), HasSubstr("eval.batch: split 'valid'"));
}

/// The recipe of token files with the tokens of another dataset.
json token_files(const TemporaryFolder& folder, const Dataset& data) {
  const auto& tokens = dynamic_cast<const HasTokens&>(data).token_data();
  write_token_file(folder / "train.tokens", *tokens.splits[0], tokens.vocabulary);
  write_token_file(folder / "valid.tokens", *tokens.splits[1], tokens.vocabulary);
  return {{"type", "token_file"},
          {"train", folder / "train.tokens"},
          {"valid", folder / "valid.tokens"}};
}

TEST(TokenFileDataset, HasTheSamplesOfTheTexts) {
  const TemporaryFolder folder;
  const auto texts = make_texts(lines_recipe(folder, nullptr), rows_of(4, 2));
  const auto files = make_texts(token_files(folder, *texts), rows_of(4, 2));
  EXPECT_EQ(files->state(), texts->state());
  EXPECT_EQ(files->facts().padding, texts->facts().padding);
  EXPECT_EQ(files->facts().tokens->bytes, texts->facts().tokens->bytes);
  for (const auto split : {Split::train, Split::valid}) {
    ASSERT_EQ(files->size(split), texts->size(split));
    const auto samples = all_samples(*texts, split);
    const auto a = loaded(*texts, split, samples, 2), b = loaded(*files, split, samples, 2);
    EXPECT_TRUE(a.inputs[0].equal(b.inputs[0]));
    EXPECT_TRUE(a.targets[0].equal(b.targets[0]));
  }
}

TEST(TokenFileDataset, NamesTheFileOfAnotherTokenizer) {
  const TemporaryFolder folder, other;
  const auto texts = make_texts(lines_recipe(folder, nullptr));
  auto recipe = token_files(folder, *texts);
  recipe["tokenizer"] = "fastai";
  EXPECT_EQ(complaint_about(recipe), "nothing");
  recipe["tokenizer"] = {{"type", "fastai"}, {"split", "spaces"}};
  EXPECT_THAT(complaint_about(recipe), HasSubstr("data.tokenizer: '" + folder.path() +
                                                 "/train.tokens' was made by another tokenizer"));
  recipe.erase("tokenizer");
  auto few = few_lines(other, nullptr);
  const auto wrong = token_files(other, *make_texts(few));
  recipe["valid"] = wrong["valid"];
  EXPECT_THAT(complaint_about(recipe), HasSubstr("data.valid: '"));
}

TEST(TokenFileDataset, HasTheTokensOfTheModel) {
  const TemporaryFolder folder, other;
  const auto texts = make_texts(lines_recipe(folder, nullptr));
  const auto recipe = token_files(folder, *texts);
  DataContext context;
  context.fitted = texts->state();
  EXPECT_EQ(complaint_about(recipe, context), "nothing");
  context.fitted = make_texts(few_lines(other, nullptr))->state();
  EXPECT_THAT(complaint_about(recipe, context),
              HasSubstr("data.train: '" + folder.path() +
                        "/train.tokens' has other tokens than those that the model was trained "
                        "with"));
}

}  // namespace
}  // namespace ddptrain
