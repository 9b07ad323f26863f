// Tokenizers of tokenizer.json files: ids, texts from ids at once and as they come.
#include <gtest/gtest.h>

#include "base/files/files.h"
#include "base/text.h"
#include "support/golden.h"
#include "support/node.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"
#include "text/windows.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

std::unique_ptr<Tokenizer> tokenizer_of(const Case& c) {
  const auto file = folder() + "/" + c.input.at("file").get<std::string>();
  const std::string model = json::parse(read_text(file)).at("model").at("type");
  return catalog<Tokenizer>().build(fragment<Tokenizer>({{"type", lower(model)}, {"file", file}}));
}

Ids ids_of(const Tokenizer& tokenizer, const std::string& text) {
  Tokens tokens;
  tokenizer.encode(text, tokens);
  return tokens.ids;
}

Ids numbers_of(const Tokenizer& tokenizer, const std::vector<std::string>& names) {
  const auto& tokens = tokenizer.vocabulary().tokens;
  Ids ids;
  for (const auto& name : names)
    ids.push_back(
        static_cast<std::int32_t>(std::find(tokens.begin(), tokens.end(), name) - tokens.begin()));
  return ids;
}

Ids with_special(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  auto around = numbers_of(tokenizer, tokenizer.before());
  around.insert(around.end(), ids.begin(), ids.end());
  for (const auto id : numbers_of(tokenizer, tokenizer.after())) around.push_back(id);
  return around;
}

}  // namespace

GOLDEN(language_models, tokenizer) {
  const auto tokenizer = tokenizer_of(c);
  const auto ids = ids_of(*tokenizer, c.input.at("text"));
  EXPECT_EQ(json(ids), c.expect.at("ids"));
  EXPECT_EQ(json(with_special(*tokenizer, ids)), c.expect.at("ids_with_special"));
  const Detokenizer detokenizer(*tokenizer, tokenizer->vocabulary().tokens);
  EXPECT_EQ(detokenizer.decode(ids, SpecialTokens::keep), c.expect.at("decoded"));
  EXPECT_EQ(detokenizer.decode(ids), c.expect.at("decoded_skip_special"));
}

GOLDEN(language_models, tokenizer_stream) {
  const auto tokenizer = tokenizer_of(c);
  const Detokenizer detokenizer(*tokenizer, tokenizer->vocabulary().tokens);
  TextStream stream(detokenizer);
  json pieces;
  for (const std::int32_t id : c.input.at("ids")) {
    const auto piece = stream.add(id);
    pieces.push_back(piece.empty() ? json() : json(piece));
  }
  EXPECT_EQ(pieces, c.expect.at("pieces"));
  EXPECT_EQ(stream.finish(), "");
}

GOLDEN(language_models, tokenizer_truncation) {
  const auto tokenizer = tokenizer_of(c);
  const auto ids = ids_of(*tokenizer, c.input.at("text"));
  const auto around = with_special(*tokenizer, {}).size();
  const auto side = c.input.at("side") == "left" ? WindowSide::end : WindowSide::start;
  const auto windows = token_windows(
      ids.size(), c.input.at("max_length").get<std::size_t>() - around, c.input.at("stride"), side);
  const auto cut = [&](const TokenWindow& window) {
    return json(
        with_special(*tokenizer, std::span(ids).subspan(window.first, window.last - window.first)));
  };
  EXPECT_EQ(cut(windows[0]), c.expect.at("ids"));
  EXPECT_EQ(windows.size() - 1, c.expect.at("rests"));
  for (std::size_t i = 0; i < c.expect.at("rest").size(); ++i)
    EXPECT_EQ(cut(windows.at(i + 1)), c.expect["rest"][i]) << i;
}

GOLDEN(language_models, tokenizer_vocabulary) {
  const auto tokenizer = tokenizer_of(c);
  const auto& tokens = tokenizer->vocabulary().tokens;
  EXPECT_EQ(tokens.size(), c.expect.at("size"));
  for (const auto& [id, token] : c.expect.at("added").items()) {
    EXPECT_EQ(tokens.at(std::stoul(id)), token);
    EXPECT_TRUE(tokenizer->is_special(token.get<std::string>()));
  }
}

}  // namespace ddptrain::golden
