#include "text/tokenizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/text.h"
#include "text/byte_characters.h"

namespace ddptrain {
namespace {

/// Puts tokens at their numbers; no number may be taken twice by different ones. Numbers may leave
/// gaps, but not so large ones that the file's bytes would not pay for the memory.
class Numbered {
 public:
  explicit Numbered(std::size_t tokens, std::vector<std::string> known = {})
      : most_(static_cast<std::int64_t>(4 * tokens + 1024)), tokens_(std::move(known)) {}

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
  read_json(content);
  root().allow({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                "post_processor", "decoder", "model"});
  check_model(model);
  if (!root().is_null("truncation"))
    root().at("truncation").fail("is not supported; data.max_length cuts documents off");
  if (!root().is_null("normalizer")) normalizer_ = Normalizer(root().at("normalizer"));
  if (!root().is_null("pre_tokenizer")) pre_tokenizer_ = PreTokenizer(root().at("pre_tokenizer"));
  if (!root().is_null("decoder")) decoder_ = Decoder(root().at("decoder"));
  read_added_tokens();
  if (!root().is_null("post_processor")) read_post_processor(root().at("post_processor"), 0);
}

void TokenizerFile::read_json(const std::string& content) {
  // The parser takes a NUL for the end.
  if (content.find('\0') != std::string::npos)
    throw Error(Exit::data, "{}: has a NUL in it", path_);
  try {
    json_ = std::make_unique<nlohmann::json>(nlohmann::json::parse(content));
  } catch (const nlohmann::json::exception&) {
    throw Error(Exit::data, "{}: not a JSON file", path_);
  }
}

// Older files, GPT-2's for one, do not name it.
std::string TokenizerFile::model_type() const {
  if (!model().is_null("type")) return model().type();
  if (!model().is_null("merges")) return "BPE";
  return model().at("vocab").value().is_array() ? "Unigram" : "WordPiece";
}

void TokenizerFile::check_model(std::string_view model) const {
  const auto type = model_type();
  if (type == model) return;
  const bool ours = type == "WordPiece" || type == "BPE" || type == "Unigram";
  this->model().fail(fmt::format(
      "'{}' is {}", type, ours ? "what 'tokenizer: " + lower(type) + "' reads" : "not supported"));
}

void TokenizerFile::read_added_tokens() {
  if (root().is_null("added_tokens")) return;
  const auto list = root().at("added_tokens");
  std::vector<AddedToken> in_text, in_normalized;
  for (std::size_t i = 0; i < list.items(); ++i) {
    const auto section = list.item(i);
    section.allow({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token{section.text("content"), static_cast<std::int32_t>(section.number("id", -1)),
                     section.flag("single_word", false), section.flag("lstrip", false),
                     section.flag("rstrip", false)};
    token.special = section.flag("special", false);
    token.normalized = section.flag("normalized", !token.special);
    if (token.text.empty()) section.fail("'content' is empty");
    if (token.special) special_.insert(token.text);
    added_.push_back(token);
    if (token.normalized) {
      normalizer_.apply(token.text);
      if (token.text != added_.back().text) decoded_[added_.back().text] = token.text;
    }
    if (!token.text.empty()) (token.normalized ? in_normalized : in_text).push_back(token);
  }
  in_text_ = AddedTokens(std::move(in_text));
  in_normalized_ = AddedTokens(std::move(in_normalized));
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

// The vocabulary of a Unigram model is a list of tokens with their scores.
std::vector<std::string> TokenizerFile::model_tokens() const {
  const auto section = model().at("vocab");
  const auto& value = section.value();
  if (!value.is_array() && !value.is_object()) section.fail("is not an object");
  Numbered numbered(value.size() + added_.size());
  if (value.is_array()) {
    for (std::size_t i = 0; i < section.items(); ++i) {
      if (section.item(i).items() != 2) section.item(i).fail("is not a token with its score");
      numbered.put(static_cast<std::int64_t>(i), section.item(i).item(0).text(), section);
    }
    return numbered.take();
  }
  for (const auto& [token, number] : value.items()) {
    if (!number.is_number_integer()) section.fail(fmt::format("'{}' has no whole number", token));
    numbered.put(number.get<std::int64_t>(), token, section);
  }
  return numbered.take();
}

VocabularySource TokenizerFile::vocabulary() const {
  const auto section = model().at("vocab");
  VocabularySource source;
  Numbered numbered(section.value().size() + added_.size(), model_tokens());
  for (std::size_t i = 0; i < added_.size(); ++i)
    numbered.put(added_[i].id, added_[i].text, root().at("added_tokens").item(i));
  source.tokens = numbered.take();
  if (source.tokens.empty()) section.fail("is empty");
  source.unknown = section.value().is_array() ? unknown_of_list(source.tokens)
                                              : model().text_or("unk_token", "");
  if (!root().is_null("padding")) source.padding = root().at("padding").text("pad_token");
  const auto& tokens = source.tokens;
  if (source.padding.empty() && std::find(tokens.begin(), tokens.end(), "[PAD]") != tokens.end())
    source.padding = "[PAD]";
  check_tokens(source);
  return source;
}

std::string TokenizerFile::unknown_of_list(const std::vector<std::string>& tokens) const {
  const auto id = static_cast<std::size_t>(model().number("unk_id", 0));
  if (model().is_null("unk_id")) model().fail("has no 'unk_id'");
  if (id >= model().at("vocab").items()) model().at("unk_id").fail("is not in the vocabulary");
  return tokens[id];
}

void TokenizerFile::check_tokens(const VocabularySource& source) const {
  const std::unordered_set<std::string_view> all(source.tokens.begin(), source.tokens.end());
  const auto check = [&](const std::string& token, const JsonSection& section, const char* key) {
    if (token.empty() || all.contains(token)) return;
    section.at(key).fail(fmt::format("'{}' is not in the vocabulary", token));
  };
  if (!source.unknown.empty()) check(source.unknown, model(), "unk_token");
  for (const auto* list : {&before_, &after_})
    for (const auto& token : *list) check(token, root(), "post_processor");
  check(source.padding, root(), "padding");
}

void TokenizerFile::cut(std::string_view text, Tokens& memory, const PreTokenizer::Visit& word,
                        const std::function<void(const AddedToken&)>& added) const {
  const auto plain = [&](std::string_view part) {
    const bool begins = part.data() == text.data();
    if (!normalizer_.changes_nothing()) {
      memory.text = part;
      normalizer_.apply(memory.text);
      part = memory.text;
    }
    if (in_normalized_.empty()) return pre_tokenizer_.cut(part, begins, word);
    in_normalized_.split(
        part,
        [&](std::string_view piece) {
          pre_tokenizer_.cut(piece, begins && piece.data() == part.data(), word);
        },
        added);
  };
  if (in_text_.empty()) return plain(text);
  in_text_.split(text, plain, added);
}

std::string TokenizerFile::decode(std::span<const std::string_view> tokens) const {
  std::vector<std::string> texts(tokens.begin(), tokens.end());
  if (!decoded_.empty())
    for (auto& text : texts)
      if (const auto found = decoded_.find(text); found != decoded_.end()) text = found->second;
  return decoder_.join(std::move(texts));
}

std::size_t TokenizerFile::text_bytes(std::string_view token) const {
  if (is_special(token)) return 0;
  const std::string text(token);
  const auto found = decoded_.find(text);
  return decoder_.text_bytes(found == decoded_.end() ? text : found->second);
}

bool TokenizerFile::is_special(std::string_view token) const {
  return special_.contains(std::string(token));
}

FileTokenizer::FileTokenizer(const std::string& path, std::string_view model)
    : file_(path, model), vocabulary_(file_.vocabulary()) {
  static std::atomic<std::uint64_t> tokenizers = 0;
  serial_ = ++tokenizers;
  const auto tokens = file_.model_tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].empty()) continue;  // a number without a token
    const auto word = words_.add(tokens[i]);
    ids_.resize(words_.size());
    ids_[word] = static_cast<std::int32_t>(i);
  }
}

std::array<std::int32_t, 256> FileTokenizer::byte_ids() const {
  std::array<std::int32_t, 256> ids;
  for (std::size_t byte = 0; byte < ids.size(); ++byte)
    ids[byte] = id_of(fmt::format("<0x{:02X}>", byte));
  return ids;
}

void FileTokenizer::encode(std::string_view text, Tokens& tokens) const {
  tokens.ids.clear();
  tokens.cache.belong_to(serial_);
  const bool bytes = file_.words_are_bytes();
  const auto add = [&](std::string_view word) {
    if (!bytes) return add_pieces(word, tokens.ids);
    tokens.spare.clear();
    append_byte_characters(tokens.spare, word);
    add_pieces(tokens.spare, tokens.ids);
  };
  file_.cut(
      text, tokens,
      [&](std::string_view word) { tokens.cache.append(word, tokens.ids, [&] { add(word); }); },
      [&](const AddedToken& added) { tokens.ids.push_back(added.id); });
}

void FileTokenizer::tokenize(std::string_view text, Tokens& tokens) const {
  encode(text, tokens);
  tokens.list.clear();
  for (const auto id : tokens.ids)
    tokens.list.push_back(vocabulary_.tokens[static_cast<std::size_t>(id)]);
}

}  // namespace ddptrain
