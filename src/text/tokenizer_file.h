// What every tokenizer.json of Hugging Face's tokenizers has around its model: normalizer, cutting,
// added tokens, and the tokens around a document.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

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

/// A token that is found in the text before anything else is done to it, like "[SEP]".
struct AddedToken {
  std::string text;
  bool strip_left = false, strip_right = false;  // takes the spaces there with it
};

/// Reads the file and refuses, by its name and place, whatever might change tokens and is not
/// implemented: Error (Exit::data).
class TokenizerFile {
 public:
  /// `model` is what the file's model.type must be.
  TokenizerFile(const std::string& path, std::string_view model);

  JsonSection model() const { return root().at("model"); }
  /// The model's `vocab` and the added tokens, by number.
  VocabularySource vocabulary() const;
  std::string digest() const { return digest_; }
  const std::vector<std::string>& before() const { return before_; }
  const std::vector<std::string>& after() const { return after_; }

  /// Calls `word` with each piece that the model is to cut, `added` with each added token's text,
  /// a view that lasts.
  void cut(std::string_view text, Tokens& memory, const PreTokenizer::Visit& word,
           const PreTokenizer::Visit& added) const;

 private:
  class AddedFinder;
  JsonSection root() const { return {*json_, path_ + ": "}; }
  void read_added_tokens();
  void read_post_processor(const JsonSection& section, int depth);
  void read_template(const JsonSection& section);

  std::string path_;
  std::string digest_;
  std::unique_ptr<nlohmann::json> json_;
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  std::vector<AddedToken> added_;
  std::vector<std::string> before_, after_;
};

/// What the tokenizers of such a file share: all but how a model cuts a word into pieces.
class FileTokenizer : public Tokenizer {
 public:
  void tokenize(std::string_view text, Tokens& tokens) const final;
  const VocabularySource& vocabulary() const final { return vocabulary_; }
  std::vector<std::string> before() const final { return file_.before(); }
  std::vector<std::string> after() const final { return file_.after(); }
  std::string digest() const final { return file_.digest(); }

 protected:
  FileTokenizer(const std::string& path, std::string_view model);
  JsonSection model() const { return file_.model(); }
  const Words& words() const { return words_; }  // numbered as the vocabulary
  const std::string& unknown_token() const { return vocabulary_.unknown; }

 private:
  virtual void add_pieces(std::string_view word, Tokens& tokens) const = 0;

  TokenizerFile file_;
  VocabularySource vocabulary_;
  Words words_;
};

}  // namespace ddptrain
