// A tokenizer.json, and a text after an empty line for what it makes of it; fastai's rules on the
// same text.
#include "text/tokenizer.h"

#include "base/error.h"
#include "base/text.h"
#include "input_file.h"
#include "text/detokenizer.h"
#include "text/unicode.h"

using namespace ddptrain;

namespace {

Choice<Tokenizer> choice(const std::string& type, const std::string& file) {
  auto node = Node::map({{"type", {}, Node::scalar(type)}});
  if (!file.empty()) node.set("file", Node::quoted_text(file));
  Choice<Tokenizer> chosen;
  chosen.choose(std::move(node));
  return chosen;
}

void check(const Tokenizer& tokenizer, const std::string& text) {
  Tokens tokens;
  tokenizer.tokenize(text, tokens);
  for (const auto token : tokens.list) fuzz::claim(!find_invalid_utf8(token), "tokens are UTF-8");
  fuzz::claim(!find_invalid_utf8(tokenizer.decode(tokens.list)), "decoded text is UTF-8");
}

/// By number, and back as the tokens come.
void check_ids(const Tokenizer& tokenizer, const std::string& text) {
  Tokens tokens;
  tokenizer.encode(text, tokens);
  const auto& vocabulary = tokenizer.vocabulary().tokens;
  const Detokenizer detokenizer(tokenizer, vocabulary);
  TextStream stream(detokenizer);
  std::string streamed;
  for (const auto id : tokens.ids) {
    fuzz::claim(id >= 0 && id < std::ssize(vocabulary), "ids are those of tokens");
    streamed += stream.add(id);
  }
  streamed += stream.finish();
  fuzz::claim(!find_invalid_utf8(streamed), "streamed text is UTF-8");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto all = fuzz::text_of(data, size);
  const auto at = std::min(all.find("\n\n"), all.size());
  const auto text = replace_invalid_utf8(all.substr(std::min(all.size(), at + 2)));
  check(*catalog<Tokenizer>().build(choice("fastai", "")), text);
  const fuzz::InputFile file(all.substr(0, at));
  for (const char* type : {"wordpiece", "bpe", "unigram"}) try {
      const auto tokenizer = catalog<Tokenizer>().build(choice(type, file.path()));
      check(*tokenizer, text);
      check_ids(*tokenizer, text);
    } catch (const Error& error) {
      fuzz::claim(error.code() == Exit::data, "it is the file that is wrong");
    }
  return 0;
}
