#include "text/tokenizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/text.h"
#include "text/unicode.h"

namespace ddptrain {
namespace {

/// Puts tokens at their numbers; no number may be taken twice by different ones. Numbers may leave
/// gaps, but not so large ones that the file's bytes would not pay for the memory.
class Numbered {
 public:
  explicit Numbered(std::size_t tokens) : most_(static_cast<std::int64_t>(4 * tokens + 1024)) {}

  void put(std::int64_t number, const std::string& token, const JsonSection& place) {
    if (number < 0 || number >= most_)
      place.fail(
          fmt::format("token '{}' has the number {}, which is not below {}; number the tokens from "
                      "0 without large gaps",
                      shown(token, 200), number, most_));
    const auto at = static_cast<std::size_t>(number);
    if (tokens_.size() <= at) tokens_.resize(at + 1);
    if (!tokens_[at].empty() && tokens_[at] != token)
      place.fail(fmt::format("tokens '{}' and '{}' have one number, {}", shown(tokens_[at], 200),
                             shown(token, 200), number));
    tokens_[at] = token;
  }
  std::vector<std::string> take() { return std::move(tokens_); }

 private:
  std::int64_t most_;
  std::vector<std::string> tokens_;
};

}  // namespace

void TokenizerFileOptions::fields(Fields& f) {
  f("file", file,
    {.doc = "A tokenizer.json of Hugging Face.",
     .required = true,
     .path = true,
     .example = "data/tokenizer.json"});
}

TokenizerFile::TokenizerFile(const std::string& path, std::string_view model) : path_(path) {
  const auto content = read_text(path);
  digest_ = sha256(content);
  try {
    // The parser takes a NUL for the end.
    if (content.find('\0') != std::string::npos)
      throw Error(Exit::data, path + ": has a NUL in it");
    json_ = std::make_unique<nlohmann::json>(nlohmann::json::parse(content));
  } catch (const nlohmann::json::exception&) {
    throw Error(Exit::data, path + ": not a JSON file");
  }
  root().allow({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                "post_processor", "decoder", "model"});
  const auto type = this->model().type();
  if (type != model) {
    const bool ours = type == "WordPiece" || type == "BPE";
    this->model().fail("'" + type + "' is " +
                       (ours ? "what 'tokenizer: " + lower(type) + "' reads" : "not supported"));
  }
  if (!root().is_null("truncation"))
    root().at("truncation").fail("is not supported; data.max_length cuts documents off");
  if (!root().is_null("normalizer")) normalizer_ = Normalizer(root().at("normalizer"));
  if (!root().is_null("pre_tokenizer")) pre_tokenizer_ = PreTokenizer(root().at("pre_tokenizer"));
  read_added_tokens();
  if (!root().is_null("post_processor")) read_post_processor(root().at("post_processor"), 0);
}

void TokenizerFile::read_added_tokens() {
  if (root().is_null("added_tokens")) return;
  const auto list = root().at("added_tokens");
  for (std::size_t i = 0; i < list.items(); ++i) {
    const auto token = list.item(i);
    token.allow({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    token.refuse("single_word");
    const bool normalized = !token.is_null("normalized") && token.at("normalized").value() != false;
    if (normalized && !normalizer_.changes_nothing())
      token.at("normalized").fail("is not supported together with a normalizer");
    const auto text = token.text("content");
    if (text.empty()) token.fail("'content' is empty");
    added_.push_back({text, token.flag("lstrip", false), token.flag("rstrip", false)});
  }
}

void TokenizerFile::read_post_processor(const JsonSection& section, int depth) {
  const auto type = section.type();
  section.check_depth(depth);
  if (type == "ByteLevel") return;  // moves offsets, which are unused here
  if (type == "TemplateProcessing") return read_template(section);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    before_ = {section.at("cls").item(0).text()};
    after_ = {section.at("sep").item(0).text()};
    return;
  }
  if (type != "Sequence")
    section.not_supported(
        type, "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, Sequence");
  const auto list = section.at("processors");
  for (std::size_t i = 0; i < list.items(); ++i) read_post_processor(list.item(i), depth + 1);
}

void TokenizerFile::read_template(const JsonSection& section) {
  const auto single = section.at("single");
  bool behind = false;
  for (std::size_t i = 0; i < single.items(); ++i) {
    const auto piece = single.item(i);
    piece.allow({"SpecialToken", "Sequence"});
    if (piece.is_null("SpecialToken")) {
      if (behind) piece.fail("the text stands there twice");
      behind = true;
      continue;
    }
    const auto token = piece.at("SpecialToken").text("id");
    (behind ? after_ : before_).push_back(token);
  }
  if (!behind) single.fail("has no 'Sequence'");
}

VocabularySource TokenizerFile::vocabulary() const {
  const auto section = model().at("vocab");
  if (!section.value().is_object()) section.fail("is not an object");
  Numbered numbered(section.value().size() + added_.size());
  for (const auto& [token, number] : section.value().items()) {
    if (!number.is_number_integer()) section.fail("'" + token + "' has no whole number");
    numbered.put(number.get<std::int64_t>(), token, section);
  }
  for (std::size_t i = 0; i < added_.size(); ++i) {
    const auto token = root().at("added_tokens").item(i);
    numbered.put(token.number("id", -1), added_[i].text, token);
  }
  VocabularySource source;
  source.tokens = numbered.take();
  if (source.tokens.empty()) section.fail("is empty");
  source.unknown = model().text_or("unk_token", "");
  const std::unordered_set<std::string_view> all(source.tokens.begin(), source.tokens.end());
  const auto known = [&](const std::string& token) { return all.contains(token); };
  if (!source.unknown.empty() && !known(source.unknown))
    model().at("unk_token").fail("'" + source.unknown + "' is not in the vocabulary");
  for (const auto* list : {&before_, &after_})
    for (const auto& token : *list)
      if (!known(token))
        root().at("post_processor").fail("'" + token + "' is not in the vocabulary");
  if (!root().is_null("padding")) source.padding = root().at("padding").text("pad_token");
  if (source.padding.empty() && known("[PAD]")) source.padding = "[PAD]";
  if (!source.padding.empty() && !known(source.padding))
    root().at("padding").fail("'" + source.padding + "' is not in the vocabulary");
  return source;
}

/// Walks over the added tokens in a text. Each is sought from where it was found last: a text costs
/// its length times the number of added tokens, however often they occur.
class TokenizerFile::AddedFinder {
 public:
  AddedFinder(std::string_view text, const std::vector<AddedToken>& added)
      : text_(text), added_(added), found_(added.size(), unknown) {}

  /// The first from `at` on, the longest of those that begin there, and null where there is none;
  /// `at` moves to it.
  const AddedToken* next(std::size_t& at) {
    const AddedToken* best = nullptr;
    auto first = std::string_view::npos;
    for (std::size_t i = 0; i < added_.size(); ++i) {
      if (found_[i] == unknown || found_[i] < at) found_[i] = text_.find(added_[i].text, at);
      if (found_[i] == std::string_view::npos || found_[i] > first) continue;
      if (found_[i] == first && added_[i].text.size() < best->text.size()) continue;
      best = &added_[i];
      first = found_[i];
    }
    if (best) at = first;
    return best;
  }

 private:
  static constexpr auto unknown = std::string_view::npos - 1;
  std::string_view text_;
  const std::vector<AddedToken>& added_;
  std::vector<std::size_t> found_;
};

void TokenizerFile::cut(std::string_view text, Tokens& memory, const PreTokenizer::Visit& word,
                        const PreTokenizer::Visit& added) const {
  const auto plain = [&](std::string_view part) {
    memory.text = part;
    normalizer_.apply(memory.text);
    pre_tokenizer_.cut(memory.text, word);
  };
  AddedFinder finder(text, added_);
  for (std::size_t begin = 0; begin < text.size();) {
    auto at = begin;
    const auto* token = finder.next(at);
    if (!token) return plain(text.substr(begin));
    auto before = text.substr(begin, at - begin);
    begin = at + token->text.size();
    if (token->strip_left) before = strip_end(before, is_white_space);
    if (!before.empty()) plain(before);
    added(token->text);
    if (token->strip_right)
      begin = text.size() - strip_begin(text.substr(begin), is_white_space).size();
  }
}

// A number without a token leaves a gap, and words are numbered without one.
FileTokenizer::FileTokenizer(const std::string& path, std::string_view model)
    : file_(path, model), vocabulary_(file_.vocabulary()) {
  for (const auto& token : vocabulary_.tokens) words_.add(token);
}

void FileTokenizer::tokenize(std::string_view text, Tokens& tokens) const {
  tokens.list.clear();
  file_.cut(
      text, tokens, [&](std::string_view word) { add_pieces(word, tokens); },
      [&](std::string_view added) { tokens.list.push_back(added); });
}

}  // namespace ddptrain
