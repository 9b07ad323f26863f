// What every tokenizer.json of Hugging Face's tokenizers has around its model: normalizer, cutting,
// added tokens, the tokens around a document, and how tokens become a text again.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "text/added_tokens.h"
#include "text/decoder.h"
#include "text/json_section.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer.h"
#include "text/words.h"

namespace ddptrain {

struct TokenizerFileOptions {
  std::string file;
  void fields(Fields& f);
};

/// Reads the file and refuses, by its name and place, whatever might change tokens and is not
/// implemented: Error (Exit::data).
class TokenizerFile {
 public:
  /// `model` is what the file's model.type must be.
  TokenizerFile(const std::string& path, std::string_view model);

  JsonSection model() const { return root().at("model"); }
  /// The model's `vocab`, by number; empty where a number has no token.
  std::vector<std::string> model_tokens() const;
  /// The same with the added tokens.
  VocabularySource vocabulary() const;
  std::string digest() const { return digest_; }
  const std::vector<std::string>& before() const { return before_; }
  const std::vector<std::string>& after() const { return after_; }

  /// Calls `word` with each word that the model is to cut, a view that lasts for the call, `added`
  /// with each added token.
  void cut(std::string_view text, Tokens& memory, const PreTokenizer::Visit& word,
           const std::function<void(const AddedToken&)>& added) const;
  bool words_are_bytes() const { return pre_tokenizer_.words_are_bytes(); }

  std::string decode(std::span<const std::string_view> tokens) const;
  std::size_t text_bytes(std::string_view token) const;
  bool is_special(std::string_view token) const;

 private:
  JsonSection root() const { return {*json_, path_ + ": "}; }
  void read_json(const std::string& content);
  std::string model_type() const;
  void check_model(std::string_view model) const;
  void read_added_tokens();
  void read_post_processor(const JsonSection& section, int depth);
  void read_template(const JsonSection& section);
  std::string unknown_of_list(const std::vector<std::string>& tokens) const;
  void check_tokens(const VocabularySource& source) const;

  std::string path_;
  std::string digest_;
  std::unique_ptr<nlohmann::json> json_;
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  Decoder decoder_;
  std::vector<AddedToken> added_;
  AddedTokens in_text_, in_normalized_;  // found in the text as it is, or as it is normalized
  std::unordered_set<std::string> special_;
  std::unordered_map<std::string, std::string> decoded_;  // added tokens whose text is another
  std::vector<std::string> before_, after_;
};

/// What the tokenizers of such a file share: all but how a model cuts a word into pieces.
class FileTokenizer : public Tokenizer {
 public:
  void tokenize(std::string_view text, Tokens& tokens) const final;
  void encode(std::string_view text, Tokens& tokens) const final;
  const VocabularySource& vocabulary() const final { return vocabulary_; }
  std::vector<std::string> before() const final { return file_.before(); }
  std::vector<std::string> after() const final { return file_.after(); }
  std::string decode(std::span<const std::string_view> tokens) const final {
    return file_.decode(tokens);
  }
  bool is_special(std::string_view token) const final { return file_.is_special(token); }
  std::size_t text_bytes(std::string_view token) const final { return file_.text_bytes(token); }
  std::string digest() const final { return file_.digest(); }

 protected:
  FileTokenizer(const std::string& path, std::string_view model);
  JsonSection model() const { return file_.model(); }
  /// The number of a token of the model; -1 where there is none.
  std::int32_t id_of(std::string_view token) const {
    const auto word = words_.find(token);
    return word < 0 ? -1 : ids_[static_cast<std::size_t>(word)];
  }
  /// Of "<0x00>" .. "<0xFF>"; -1 where there is none.
  std::array<std::int32_t, 256> byte_ids() const;
  std::int32_t unknown_id() const { return id_of(vocabulary_.unknown); }

 private:
  /// Appends the numbers of the pieces of a word, which is not empty.
  virtual void add_pieces(std::string_view word, std::vector<std::int32_t>& ids) const = 0;

  TokenizerFile file_;
  VocabularySource vocabulary_;
  Words words_;
  std::vector<std::int32_t> ids_;  // by word
  std::uint64_t serial_;           // differs from those of all other tokenizers
};

}  // namespace ddptrain
