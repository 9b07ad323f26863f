// Whether the words of weights come from texts that were split as this recipe splits its own.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "train/transfer/row_names.h"

namespace ddptrain {
namespace {

using Names = std::vector<std::string>;

const Names* words_of(const RowNames& names) {
  const auto& columns = names.fitted.columns;
  return columns.size() == 1 && columns[0].is_vocabulary ? &columns[0].values : nullptr;
}

bool has_capital(const std::string& word) {
  return std::any_of(word.begin(), word.end(),
                     [](char letter) { return letter >= 'A' && letter <= 'Z'; });
}

std::string value_at(const FittedTokenizer& tokenizer, const std::string& key) {
  const auto found = tokenizer.options.find(key);
  return found == tokenizer.options.end() ? "not there" : found->second;
}

/// "type: fastai there, wordpiece here; split: spaces there, words here"
std::string differences(const FittedTokenizer& there, const FittedTokenizer& here) {
  if (there.options.empty()) return "how it was set is not recorded there";
  Names different;
  for (const auto& [key, value] : here.options)
    if (value_at(there, key) != value)
      different.push_back(
          fmt::format("{}: {} there, {} here", key, shown(value_at(there, key), 200), value));
  return different.empty() ? "its file is another one" : join(different, "; ");
}

/// Special tokens, as fastai ("xxmaj"), BERT ("[SEP]") and GPT-2 ("<|endoftext|>") write them.
bool is_special(const std::string& word) {
  return (word.starts_with("xx") && word.size() > 4 && word != "xxfake") ||
         (word.starts_with('[') && word.ends_with(']') && word.size() > 2) ||
         (word.starts_with('<') && word.ends_with('>') && word.size() > 2);
}

/// Those that stand before all other `words`, and that `others` lack.
Names special_only_in(const Names& words, const Names& others) {
  const std::unordered_set<std::string> known(others.begin(), others.end());
  Names missing;
  for (std::size_t i = 0; i < words.size() && is_special(words[i]); ++i)
    if (!known.contains(words[i])) missing.push_back(words[i]);
  return missing;
}

std::string quoted(Names names) {
  if (names.size() > 5) names.resize(5), names.emplace_back("...");
  for (auto& name : names) name = shown(name, 40);
  return fmt::format("'{}'", join(names, "', '"));
}

/// Words of `here` that are among `there`.
std::int64_t known_words(const Names& there, const Names& here) {
  const std::unordered_set<std::string> known(there.begin(), there.end());
  return std::count_if(here.begin(), here.end(),
                       [&](const auto& word) { return known.contains(word); });
}

std::int64_t capitals(const Names& words) {
  return std::count_if(words.begin(), words.end(),
                       [](const auto& word) { return !is_special(word) && has_capital(word); });
}

/// What the words themselves give away.
void look_at_words(const Names& there, const Names& here, Names& warnings) {
  const std::string before = "the file's words look as if another tokenizer had made them: ";
  const auto missing = special_only_in(here, there);
  const auto other = special_only_in(there, here);
  if (!missing.empty())
    warnings.push_back(
        fmt::format("{}{}{} (data.tokenizer)", before,
                    "it has none of this tokenizer's special tokens " + quoted(missing),
                    other.empty() ? "" : ", and others: " + quoted(other)));
  const auto capitals_there = capitals(there), capitals_here = capitals(here);
  if (capitals_there == 0 && 10 * capitals_here > std::ssize(here))
    warnings.push_back(
        fmt::format("{}all are in lower case, and {} of {} here are not (data.tokenizer)", before,
                    capitals_here, plural(std::ssize(here), "word")));
  if (capitals_here == 0 && 10 * capitals_there > std::ssize(there))
    warnings.push_back(before + ("many have capital letters, and all words here are in lower case "
                                 "(data.tokenizer)"));
}

}  // namespace

std::vector<std::string> tokenizer_warnings(const RowNames& there, const RowNames& here) {
  const auto* words_there = words_of(there);
  const auto* words_here = words_of(here);
  if (words_there == nullptr || words_here == nullptr) return {};
  const auto& before = there.fitted.tokenizer;
  const auto& now = here.fitted.tokenizer;
  Names warnings;
  if (before.digest.empty())
    look_at_words(*words_there, *words_here, warnings);
  else if (before.digest != now.digest)
    warnings.push_back(
        "the weights were trained on the tokens of another tokenizer (" + differences(before, now) +
        "): equal words need not stand for the same text; write data.tokenizer as it was there");
  const auto found = known_words(*words_there, *words_here);
  if (10 * found < std::ssize(*words_here))
    warnings.push_back(
        fmt::format("only {} of {} here are among the {} of the weights: is it the list of this "
                    "file, of texts in this language?",
                    found, plural(std::ssize(*words_here), "word"), words_there->size()));
  return warnings;
}

}  // namespace ddptrain
