#include "jobs/run_texts.h"

#include <algorithm>

#include "base/error.h"
#include "config/shape.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

struct TokenizerSection {
  Choice<Tokenizer> tokenizer;
  void fields(Fields& f) { f("tokenizer", tokenizer, {.doc = "Text to tokens."}); }
};

Node tokenizer_node(const Recipe& recipe, const FittedTokens& fitted, const std::string& file) {
  const auto* written = recipe.data.node().find("tokenizer");
  Node node = written && !written->is_null() ? *written : fitted.options;
  if (node.is_scalar()) node = Choice<Tokenizer>(node.text).node();
  if (!file.empty()) node.set("file", Node::quoted_text(file));
  return node;
}

/// The value of a key of data.blocks, whose shorthand is `layout`; null where none is written.
const Node* block_option(const Recipe& recipe, std::string_view key) {
  const auto* blocks = recipe.data.node().find("blocks");
  if (!blocks || blocks->is_null()) return nullptr;
  if (blocks->is_scalar()) return key == "layout" ? blocks : nullptr;
  return blocks->find(key);
}

}  // namespace

Choice<Tokenizer> tokenizer_of(const Recipe& recipe, const FittedTokens& fitted,
                               const std::string& file) {
  const auto node = tokenizer_node(recipe, fitted, file);
  auto section = Node::map();
  section.set("tokenizer", node);
  const auto problems = check(section, shape_of<TokenizerSection>(), all_catalogs());
  if (has_errors(problems))
    throw Error(Exit::recipe, Option{"data." + problems.front().path},
                "{}; '--tokenizer FILE' names the file of the tokenizer that the run had",
                problems.front().message);
  Choice<Tokenizer> tokenizer;
  tokenizer.choose(node);
  return tokenizer;
}

std::unique_ptr<TextCodec> codec_of(const Recipe& recipe, const std::string& fitted,
                                    const std::string& file) {
  if (!is_text_state(fitted))
    throw Error(Exit::recipe,
                "model '{}' writes no text, since its run reads none; 'ddptrain predict' gives its "
                "predictions",
                recipe.model.type());
  auto tokens = fitted_tokens_of(fitted);
  const auto tokenizer = tokenizer_of(recipe, tokens, file);
  return std::make_unique<TextCodec>(tokenizer, std::move(tokens));
}

bool is_block_option(const Recipe& recipe, std::string_view key, std::string_view value,
                     std::string_view otherwise) {
  const auto* written = block_option(recipe, key);
  return (written ? std::string_view(written->text) : otherwise) == value;
}

std::vector<std::int64_t> text_ends(const Recipe& recipe, const TextCodec& codec) {
  auto ends = codec.marks();
  const auto* end = block_option(recipe, "end");
  const auto number = end && !end->is_null() ? codec.number(end->text) : -1;
  if (number >= 0 && std::ranges::find(ends, number) == ends.end()) ends.push_back(number);
  return ends;
}

}  // namespace ddptrain
