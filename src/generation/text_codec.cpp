#include "generation/text_codec.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "config/yaml/reader.h"

namespace ddptrain {
namespace {

std::int64_t place_in(const std::vector<std::string>& tokens, std::string_view token) {
  const auto found = std::find(tokens.begin(), tokens.end(), token);
  return found == tokens.end() ? -1 : found - tokens.begin();
}

std::unique_ptr<Tokenizer> checked(std::unique_ptr<Tokenizer> tokenizer,
                                   const FittedTokens& fitted) {
  if (tokenizer->digest() == fitted.tokenizer) return tokenizer;
  throw Error(Exit::recipe, Option{"data.tokenizer"},
              "it gives other tokens than the one that the model was trained with");
}

Vocabulary vocabulary_of(const Tokenizer& tokenizer, std::vector<std::string> tokens) {
  const auto unknown = place_in(tokens, tokenizer.vocabulary().unknown);
  return {std::move(tokens), unknown};
}

}  // namespace

bool is_text_state(const std::string& state) {
  const auto json = json_or_null(state);
  return json.is_object() && json.contains("tokenizer") && json.contains("vocabulary");
}

FittedTokens fitted_tokens_of(const std::string& state) {
  const auto json = parse_json(state);
  FittedTokens fitted{json.at("tokenizer"), Node::map(), json.at("vocabulary")};
  if (const auto options = json.find("tokenizer_options"); options != json.end())
    for (const auto& [key, value] : options->items())
      fitted.options.set(key, read_yaml(value.get<std::string>(), "").tree);
  return fitted;
}

TextCodec::TextCodec(const Choice<Tokenizer>& tokenizer, FittedTokens fitted)
    : tokenizer_(checked(catalog<Tokenizer>().build(tokenizer), fitted)),
      vocabulary_(vocabulary_of(*tokenizer_, std::move(fitted.vocabulary))),
      detokenizer_(*tokenizer_, vocabulary_.tokens()) {}

std::vector<std::int64_t> TextCodec::encode(std::string_view text) const {
  auto numbers = beginning();
  Tokens tokens;
  if (!tokenizer_->vocabulary().tokens.empty()) {
    tokenizer_->encode(text, tokens);
    numbers.insert(numbers.end(), tokens.ids.begin(), tokens.ids.end());
    return numbers;
  }
  tokenizer_->tokenize(text, tokens);
  for (const auto token : tokens.list) numbers.push_back(known(token));
  return numbers;
}

std::vector<std::int64_t> TextCodec::beginning() const {
  std::vector<std::int64_t> numbers;
  for (const auto& token : tokenizer_->before()) numbers.push_back(known(token));
  return numbers;
}

std::int64_t TextCodec::known(std::string_view token) const {
  const auto number = vocabulary_.number(token);
  if (number >= 0) return number;
  throw Error(Exit::recipe,
              "'{}' is no token of the model's vocabulary, which has none for unknown ones",
              shown(token, 40));
}

std::int64_t TextCodec::number(std::string_view token) const {
  return place_in(vocabulary_.tokens(), token);
}

std::int64_t TextCodec::padding() const {
  const auto& name = tokenizer_->vocabulary().padding;
  return number(name.empty() ? kOwnPadding : std::string_view(name));
}

std::int64_t TextCodec::unknown() const {
  const auto& token = tokenizer_->vocabulary().unknown;
  return token.empty() ? -1 : number(token);
}

std::vector<std::int64_t> TextCodec::marks() const {
  std::vector<std::int64_t> marks;
  const auto& tokens = vocabulary_.tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] != tokenizer_->vocabulary().unknown && tokenizer_->is_special(tokens[i]))
      marks.push_back(static_cast<std::int64_t>(i));
  return marks;
}

}  // namespace ddptrain
