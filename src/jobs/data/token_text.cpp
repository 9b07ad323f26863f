#include "jobs/data/token_text.h"

#include "base/text.h"

namespace ddptrain {

std::vector<InkedText> token_text(const Preview& sample, TokenMarks marks) {
  std::vector<InkedText> text{{sample.name + ":", Ink::mark}};
  for (const auto& token : sample.tokens) {
    if (token.begins) text.push_back({" |", Ink::mark});
    const auto word = shown(token.text, token.text.size());
    if (token.learned)
      text.push_back({" " + word, Ink::plain});
    else if (marks == TokenMarks::color)
      text.push_back({" " + word, Ink::faint});
    else
      text.push_back({" [" + word + "]", Ink::plain});
  }
  text.push_back({"\n", Ink::plain});
  return text;
}

}  // namespace ddptrain
