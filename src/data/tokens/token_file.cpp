// data token_file: token ids that `ddptrain data tokens` wrote, a file for each split.

#include "sources/tokens/token_file.h"
#include "base/error.h"
#include "base/files/digest.h"
#include "base/json.h"
#include "data/dataset.h"
#include "data/tokens/token_dataset.h"
#include "recipe/data_section.h"
#include "text/tokenizer.h"

namespace ddptrain {
namespace {

struct TokenFileOptions {
  std::string train;
  std::string valid;
  std::optional<Choice<Tokenizer>> tokenizer;
  BlockOptions blocks;
  DataSection section;
  void fields(Fields& f) {
    f("train", train,
      {.doc = "Training tokens, which 'ddptrain data tokens' wrote.",
       .required = true,
       .path = true,
       .address = AddressUse::file,
       .example = "data/train.tokens"});
    f("valid", valid,
      {.doc = "Validation tokens, by the same tokenizer.",
       .required = true,
       .path = true,
       .address = AddressUse::file,
       .example = "data/valid.tokens"});
    f("tokenizer", tokenizer,
      {.doc = "The tokenizer that made the files, which other tokenizers' files do not match; "
              "null: any."});
    f("blocks", blocks, {.doc = "How documents become samples."});
    section.fields(f);
  }
};

std::shared_ptr<const TokenFile> opened(const std::string& path, const DataContext& context) {
  return std::make_shared<const TokenFile>(path, *context.file_system);
}

void require_tokenizer(const TokenFile& file, const TokenFileOptions& options) {
  if (!options.tokenizer) return;
  const auto tokenizer = catalog<Tokenizer>().build(*options.tokenizer);
  if (tokenizer->digest() != file.vocabulary().tokenizer)
    throw Error(Exit::data, Option{"data.tokenizer"},
                "'{}' was made by another tokenizer; write it again with 'ddptrain data tokens', "
                "or name the tokenizer that made it",
                options.train);
}

void require_one_vocabulary(const TokenFile& train, const TokenFile& valid,
                            const TokenFileOptions& options) {
  const auto &a = train.vocabulary(), &b = valid.vocabulary();
  if (a.tokenizer == b.tokenizer && a.tokens == b.tokens && a.padding == b.padding) return;
  throw Error(Exit::data, Option{"data.valid"},
              "'{}' was made by another tokenizer, or has another vocabulary, than '{}'; 'ddptrain "
              "data tokens' writes both together",
              options.valid, options.train);
}

/// A model reads the tokens that it was trained with.
void require_fitted(const TokenFile& file, const TokenFileOptions& options,
                    const DataContext& context) {
  if (context.fitted.empty()) return;
  const auto state = parse_json(context.fitted);
  const auto& own = file.vocabulary();
  if (state.at("tokenizer") == own.tokenizer && state.at("vocabulary") == own.tokens) return;
  throw Error(Exit::data, Option{"data.train"},
              "'{}' has other tokens than those that the model was trained with; write it again "
              "with that tokenizer",
              options.train);
}

}  // namespace

Entry<Dataset> token_file_dataset() {
  return entry<Dataset, TokenFileOptions>(
      "token_file", "Tokens of documents, in files that are mapped into memory.",
      [](const TokenFileOptions& options, const DataContext& context) {
        const auto train = opened(options.train, context), valid = opened(options.valid, context);
        require_tokenizer(*train, options);
        require_one_vocabulary(*train, *valid, options);
        require_fitted(*train, options, context);
        TokenData data;
        data.splits = {train, valid};
        data.vocabulary = train->vocabulary();
        data.digest = sha256(train->digest() + "\n" + valid->digest());
        return make_token_dataset(std::move(data), options.blocks, context);
      },
      {"gives_texts", "gives_tokens"});
}

}  // namespace ddptrain
