// The words of fastai's tokens: its rules backwards.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "text/fastai/fastai_rules.h"
#include "text/unicode.h"

namespace ddptrain {
namespace {

constexpr std::int64_t most_repetitions = 1000;  // a model may write any number

class RuleReader {
 public:
  explicit RuleReader(std::vector<std::string>& words) : words_(words) {}

  void read(std::string_view token) {
    if (token == "xxmaj" || token == "xxup" || token == "xxrep" || token == "xxwrep") {
      rule_ = token;
      times_ = unread;
    } else if ((rule_ == "xxrep" || rule_ == "xxwrep") && times_ == unread) {
      times_ = parse_integer(token).value_or(unread);
      if (times_ < 0 || times_ > most_repetitions) rule_ = {};
    } else {
      write(token);
      rule_ = {};
    }
  }

 private:
  void write(std::string_view token) {
    std::string word;
    if (rule_ == "xxmaj") {
      std::size_t behind = 0;
      if (!token.empty()) next_character(token, behind);
      append_upper(word, token.substr(0, behind));
      append_lower(word, token.substr(behind));
    } else if (rule_ == "xxup") {
      append_upper(word, token);
    } else if (rule_ == "xxrep") {
      for (std::int64_t i = 0; i < times_; ++i) word += token;
    } else {
      word = token;
    }
    words_.insert(words_.end(), rule_ == "xxwrep" ? static_cast<std::size_t>(times_) : 1, word);
  }

  static constexpr std::int64_t unread = -1;
  std::vector<std::string>& words_;
  std::string_view rule_;
  std::int64_t times_ = unread;
};

}  // namespace

std::vector<std::string> decode_rules(std::span<const std::string_view> tokens) {
  std::vector<std::string> words;
  RuleReader reader(words);
  for (const auto token : tokens) reader.read(token);
  return words;
}

}  // namespace ddptrain
