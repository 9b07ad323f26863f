#include "jobs/draft/draft_language.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <ranges>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "jobs/draft/csv_sniff.h"
#include "jobs/draft/language_recipe.h"
#include "jobs/draft/machine.h"
#include "jobs/draft/table_profile.h"
#include "sources/image/image_scan.h"
#include "sources/text/text_records.h"
#include "sources/tokens/token_file.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFewestWords = 1000;
constexpr std::int64_t kFewWords = 100'000;  // below: nothing that reads well
constexpr std::int64_t kBytesOfAWord = 5;    // and of what stands between words, on average
constexpr std::size_t kPromptBytes = 200;    // bytes of a text, for a prompt
constexpr const char* kTrainTokens = "train.tokens";
constexpr const char* kValidTokens = "valid.tokens";

/// Documents to learn from and to score with.
struct PlainTexts {
  std::int64_t documents = 0;
  std::int64_t bytes = 0;
  std::string first;  // the beginning of one

  std::int64_t words() const { return bytes / kBytesOfAWord; }
};

/// How they are divided: by a folder or a column, or a share is taken.
struct TextSplit {
  std::string named;    // in words; empty: a share
  double fraction = 0;  // of the documents
};

double share_for(std::int64_t documents) {
  return documents == 2 ? 0.5 : documents < 50 ? 0.2 : 0.1;
}

/// "about 520,000 words": to two digits.
std::string words_in(std::int64_t words) {
  std::int64_t unit = 1;
  while (words / unit >= 100) unit *= 10;
  return fmt::format("about {} words", with_commas((words + unit / 2) / unit * unit));
}

/// Some words that the model may continue.
std::string prompt_from(const std::string& text) {
  std::string prompt;
  int words = 0;
  for (const auto& word : split(trim(text.substr(0, text.find('\n'))), ' ')) {
    const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
      return std::isalnum(c) || c >= 0x80 || c == '\'' || c == ',';
    });
    if (!plain || words == 3) break;
    prompt += (words++ ? " " : "") + word;
  }
  return words == 0 || find_invalid_utf8(prompt) ? "The" : prompt;
}

void require_text(const std::string& where, const PlainTexts& texts, const TextSplit& split) {
  const auto found =
      fmt::format("{}: {}, {}", where, counted(texts.documents, "text"), words_in(texts.words()));
  if (texts.words() < kFewestWords)
    throw Error(Exit::data,
                "{}; a language model needs {} words at least, and many more to write well: add "
                "texts of the kind. To tell classes apart, put the texts of each into a folder of "
                "its own, or give a CSV file with the columns text and label",
                found, with_commas(kFewestWords));
  if (texts.documents < 2 && split.named.empty())
    throw Error(Exit::data,
                "{}; scores need a second one that is not learned from: cut it into files, as "
                "'split -n l/20 --additional-suffix=.txt FILE FOLDER/' does",
                found);
}

std::string found_share(const TextSplit& split) {
  if (!split.named.empty()) return "validation split: " + split.named;
  return fmt::format(
      "no validation split: {:.0f} % of the texts are held out, the same ones in each run",
      100 * split.fraction);
}

std::string share_line(const TextSplit& split, const std::string& noun) {
  return fmt::format(
      "  valid: {{fraction: {}, seed: 42}}     # {:.0f} % of the {}, always the same\n",
      format_number(split.fraction), 100 * split.fraction, noun);
}

/// What a recipe has of this: its data, and what the terminal shows of them.
struct LanguageData {
  std::string where;  // for messages
  PlainTexts texts = {};
  TextSplit split = {};
  std::string lines = {};  // of `data`, but vocabulary and blocks
  std::string why = {};    // no labels count
};

Draft draft_from(const LanguageData& data) {
  require_text(data.where, data.texts, data.split);
  const auto words = data.texts.words();
  Draft draft;
  draft.found = {fmt::format("{}, {}, {}", counted(data.texts.documents, "text"),
                             format_bytes(data.texts.bytes), words_in(words)),
                 "task: a language model, which learns to continue such texts; " + data.why,
                 found_share(data.split)};
  if (words < kFewWords)
    draft.found.push_back("under " + with_commas(kFewWords) +
                          " words teach little more than words that go together; more texts of "
                          "the kind help most");
  const auto kept = data.split.named.empty() ? 1 - data.split.fraction : 1;
  draft.recipe =
      language_lines({std::llround(kept * static_cast<double>(words)), 0, has_gpu()}, data.lines);
  draft.prompt = prompt_from(data.texts.first);
  return draft;
}

/// What lies in a folder of texts: texts, and folders that may hold some.
struct FolderOfTexts {
  std::vector<std::string> files, folders;  // names, sorted
};

FolderOfTexts look_into(const fs::path& folder) {
  FolderOfTexts found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code unknown;
    if (is_hidden(entry.path())) continue;
    const auto name = entry.path().filename().string();
    if (entry.is_directory(unknown))
      found.folders.push_back(name);
    else if (entry.path().extension() == ".txt")
      found.files.push_back(name);
  }
  std::ranges::sort(found.files);
  std::ranges::sort(found.folders);
  return found;
}

/// The texts of a folder, which lie in it or in its folders: where there are more. `ignored` gets
/// the names of the others.
std::vector<std::string> texts_of(const std::string& root, const std::string& folder,
                                  std::vector<std::string>& ignored) {
  const auto all = ImageScan(root, {".txt"}).images(folder);
  const auto found = look_into(fs::path(root) / folder);
  const bool inner = all.size() > 2 * found.files.size();
  const auto& others = inner ? found.files : found.folders;
  ignored.insert(ignored.end(), others.begin(), others.end());
  std::vector<std::string> kept;
  const auto home = fs::path(folder).lexically_normal();
  for (const auto& path : all) {
    const auto below = fs::path(path).lexically_normal().lexically_relative(home);
    if (below.has_parent_path() == inner) kept.push_back(path);
  }
  return kept;
}

PlainTexts plain_texts(const std::string& root, const std::vector<std::string>& paths) {
  PlainTexts texts;
  texts.documents = std::ssize(paths);
  for (const auto& path : paths) {
    std::error_code unknown;
    const auto bytes = fs::file_size(fs::path(root) / path, unknown);
    if (!unknown) texts.bytes += static_cast<std::int64_t>(bytes);
  }
  if (!paths.empty())
    texts.first = read_beginning((fs::path(root) / paths.front()).string(), kPromptBytes);
  return texts;
}

constexpr const char* kTaskLine =
    "  task: language_model     # the next word is learned; labels are not read\n";

/// "they have no labels", or that the user has asked for it.
std::string reason(const InitRequest& request, const std::string& otherwise) {
  return request.language ? "as --task says" : otherwise;
}

/// The column of rows for validation; empty where there is none.
std::string split_column(const TableProfile& profile) {
  const auto found = std::ranges::find_if(profile.columns, says_split);
  return found == profile.columns.end() ? "" : found->name;
}

PlainTexts plain_cells(const ColumnProfile& column) {
  PlainTexts texts;
  for (const auto code : column.cells.codes) {
    if (code < 0) continue;
    const auto cell = column.cells.names[static_cast<std::size_t>(code)];
    if (texts.documents++ == 0) texts.first = cell;
    texts.bytes += static_cast<std::int64_t>(cell.size());
  }
  return texts;
}

std::string left_out_line(const TableProfile& profile, const ColumnProfile& texts,
                          const std::string& split) {
  std::vector<std::string> others;
  for (const auto& column : profile.columns)
    if (column.name != texts.name && column.name != split) others.push_back(column.name);
  return others.empty() ? "" : "left out: " + join(others, ", ");
}

/// Of a folder its two files; of a file itself, and that of other texts next to it.
struct TokenPaths {
  TokenPaths(const fs::path& path, bool is_folder)
      : train((is_folder ? path / kTrainTokens : path).lexically_normal()),
        valid(((is_folder ? path : path.parent_path()) / kValidTokens).lexically_normal()) {}
  std::string train, valid;
};

}  // namespace

Draft draft_language_folder(const InitRequest& request) {
  auto train = folder_called(request.path, {"train", "training"});
  auto valid = train.empty() ? std::string()
                             : folder_called(request.path, {"val", "valid", "validation", "test"});
  if (train.empty()) train = ".";
  std::vector<std::string> ignored;
  const auto paths = texts_of(request.path, train, ignored);
  if (!valid.empty() && texts_of(request.path, valid, ignored).empty()) valid.clear();
  LanguageData data{fmt::format("texts in '{}'", request.path), plain_texts(request.path, paths)};
  if (valid.empty())
    data.split.fraction = share_for(data.texts.documents);
  else
    data.split.named = "folder " + valid;
  data.lines = fmt::format(
      "  type: text_folder\n"
      "  root: {}\n"
      "  train: {}\n{}{}",
      yaml_text(request.written), yaml_text(train), kTaskLine,
      valid.empty() ? share_line(data.split, "texts")
                    : fmt::format("  valid: {}\n", yaml_text(valid)));
  std::ranges::sort(ignored);
  ignored.erase(std::unique(ignored.begin(), ignored.end()), ignored.end());
  if (!ignored.empty()) data.lines += fmt::format("  ignore: {}\n", yaml_list(ignored));
  data.why = reason(request, "texts of each class in a folder of its own make a classifier");
  auto draft = draft_from(data);
  if (!ignored.empty()) draft.found.push_back("left out: " + join(ignored, ", "));
  return draft;
}

Draft draft_language_lines(const InitRequest& request, const std::string& key,
                           const std::string& why) {
  TextRecordOptions options;
  options.file = request.path;
  options.text = {key};
  options.task = TextTask::language_model;
  LanguageData data;
  data.where = request.path;
  for (const auto& record :
       read_json_lines(request.path, options, Labels::unknown, InvalidUtf8::error)) {
    if (data.texts.documents++ == 0) data.texts.first = record.texts.at(0);
    data.texts.bytes += std::ssize(record.texts.at(0));
  }
  data.split.fraction = share_for(data.texts.documents);
  data.lines = fmt::format(
      "  type: text_jsonl\n"
      "  file: {}\n"
      "  text: [{}]\n{}{}",
      yaml_text(request.written), yaml_text(key), kTaskLine, share_line(data.split, "lines"));
  data.why = reason(request, why);
  auto draft = draft_from(data);
  draft.found.push_back(fmt::format("texts: key '{}'", key));
  return draft;
}

Draft draft_language_rows(const InitRequest& request, const TableProfile& profile,
                          const ColumnProfile& texts) {
  LanguageData data{request.path, plain_cells(texts)};
  const auto column = split_column(profile);
  if (column.empty())
    data.split.fraction = share_for(data.texts.documents);
  else
    data.split.named = fmt::format("column '{}'", column);
  data.lines = fmt::format(
      "  type: text_csv\n"
      "  file: {}\n"
      "{}  text: [{}]\n{}{}",
      yaml_text(request.written), csv_lines(profile.csv), yaml_text(texts.name), kTaskLine,
      column.empty() ? share_line(data.split, "rows")
                     : fmt::format("  valid: {{column: {}, fraction: null}}\n", yaml_text(column)));
  data.why = reason(request, "no column looks like a label, --target COLUMN names one");
  auto draft = draft_from(data);
  draft.found.push_back(fmt::format("texts: column '{}'; --text COLUMN takes another", texts.name));
  if (const auto csv = csv_in_words(profile.csv); !csv.empty())
    draft.found.push_back("CSV: " + csv);
  if (const auto others = left_out_line(profile, texts, column); !others.empty())
    draft.found.push_back(others);
  return draft;
}

bool holds_token_files(const std::string& folder) {
  std::error_code unknown;
  return fs::exists(fs::path(folder) / kTrainTokens, unknown);
}

Draft draft_tokens(const InitRequest& request) {
  std::error_code unknown;
  const bool is_folder = fs::is_directory(request.path, unknown);
  const TokenPaths read(request.path, is_folder), written(request.written, is_folder);
  if (!fs::exists(read.valid, unknown) || read.train == read.valid)
    throw Error(Exit::data,
                "'{}' needs the tokens of other texts for validation, '{}'; 'ddptrain data tokens' "
                "writes both",
                read.train, read.valid);
  const TokenFile tokens(read.train);
  const auto vocabulary = std::ssize(tokens.vocabulary().tokens);
  Draft draft;
  draft.found = {fmt::format("{} of {}, a vocabulary of {}", counted(tokens.tokens(), "token"),
                             counted(tokens.documents(), "text"), with_commas(vocabulary)),
                 "task: a language model, which learns to continue such texts",
                 std::string("validation split: ") + kValidTokens};
  if (tokens.tokens() < kFewestWords)
    throw Error(Exit::data, "{}: {}; a language model needs {} tokens at least", read.train,
                draft.found[0], with_commas(kFewestWords));
  const auto data = "  type: token_file\n  train: " + yaml_text(written.train) +
                    "\n  valid: " + yaml_text(written.valid) + "\n";
  draft.recipe = language_lines({tokens.tokens(), vocabulary, has_gpu()}, data);
  draft.prompt = "The";
  return draft;
}

}  // namespace ddptrain
