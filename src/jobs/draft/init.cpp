#include "jobs/draft/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/url.h"
#include "cli/editor_line.h"
#include "cli/program.h"
#include "jobs/draft/draft.h"
#include "jobs/draft/draft_language.h"
#include "jobs/draft/machine.h"
#include "jobs/draft/table_profile.h"
#include "recipe/load/load.h"
#include "recipe/run_folders.h"
#include "sources/image/image_scan.h"
#include "sources/table/csv_source.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

bool holds_files(const std::string& folder, const std::vector<std::string>& extensions) {
  return !ImageScan(folder, extensions).images(".").empty();
}

std::vector<fs::directory_entry> shown_entries(const fs::path& folder) {
  std::vector<fs::directory_entry> entries;
  for (const auto& entry : fs::directory_iterator(folder))
    if (!is_hidden(entry.path())) entries.push_back(entry);
  return entries;
}

/// An archive often unpacks to a folder in a folder: the one that holds several folders.
InitRequest innermost(InitRequest request) {
  while (true) {
    const auto outer = shown_entries(request.path);
    if (outer.size() != 1 || !outer[0].is_directory()) return request;
    const auto inner = shown_entries(outer[0].path());
    if (std::none_of(inner.begin(), inner.end(), [](const auto& e) { return e.is_directory(); }))
      return request;
    const auto name = outer[0].path().filename();
    request.path = (fs::path(request.path) / name).string();
    request.written = (fs::path(request.written) / name).string();
  }
}

constexpr const char* kCutIntoFiles =
    "; 'mkdir texts && split -n l/20 --additional-suffix=.txt FILE texts/' makes a folder of a "
    "text";

Draft draft_file(const InitRequest& request) {
  const auto extension = lower(fs::path(request.path).extension().string());
  if (extension == ".jsonl" || extension == ".ndjson") return draft_json_lines(request);
  if (extension == ".csv" || extension == ".tsv") return draft_csv(request);
  if (extension == ".parquet") return draft_parquet(request);
  if (extension == ".tokens") return draft_tokens(request);
  static const std::set<std::string> packed{".gz", ".bz2", ".xz", ".zst", ".zip", ".tar", ".tgz"};
  throw Error(Exit::recipe,
              "'{}' is no data that ddptrain reads; it takes a folder of images or texts, a .csv, "
              ".tsv, .jsonl or .parquet file{}{}",
              request.path, packed.contains(extension) ? "; unpack it first" : "",
              extension == ".txt" ? kCutIntoFiles : "");
}

/// The file in a folder, as a request of its own.
InitRequest within(const InitRequest& folder, const std::string& file) {
  auto request = folder;
  request.path = (fs::path(folder.path) / file).lexically_normal().string();
  request.written = (fs::path(folder.written) / file).lexically_normal().string();
  return request;
}

bool is_list_of_points(const std::string& file) {
  try {
    std::unique_ptr<CsvSource> keep;
    return lists_points(profile_of_csv(file, keep));
  } catch (const Error&) {
    return false;  // some other file that lies next to the images
  }
}

/// The images and what belongs to them, found next to them; else their folders are classes.
Draft draft_image_folder(InitRequest& given, const InitRequest& request) {
  if (auto masks = draft_masks(request)) return *masks;
  if (auto poses = draft_poses(request)) return *poses;
  const auto lists = ImageScan(request.path, {".csv"}).images(".");
  if (lists.size() != 1 || !is_list_of_points((fs::path(request.path) / lists[0]).string()))
    return draft_images(request);
  given = within(request, lists[0]);
  return draft_csv(given);
}

std::string nothing_in(const InitRequest& request) {
  const std::string images = request.language ? "" : "images (.jpg, .png, .webp), ";
  return fmt::format("no {}texts (.txt) or tables (.csv, .jsonl, .parquet) in '{}'", images,
                     request.path);
}

Draft draft_folder(InitRequest& given) {
  const auto request = innermost(given);
  if (holds_token_files(request.path)) return draft_tokens(request);
  if (!request.language && holds_files(request.path, image_extensions()))
    return draft_image_folder(given, request);
  if (holds_files(request.path, {".txt"})) return draft_texts(request);
  const auto tables =
      ImageScan(request.path, {".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"}).images(".");
  if (tables.size() == 1) {
    given = within(request, tables[0]);
    return draft_file(given);
  }
  if (tables.empty()) throw Error(Exit::data, nothing_in(request));
  throw Error(Exit::data, "'{}' holds several tables; name one: ddptrain init {}", request.path,
              (fs::path(request.path) / tables[0]).lexically_normal().string());
}

/// A folder that holds one table is that file in `request` from then on.
Draft draft_of(InitRequest& request) {
  std::error_code unknown;
  if (fs::is_directory(request.path, unknown)) return draft_folder(request);
  if (!url_scheme(request.path).empty())
    throw Error(Exit::recipe,
                "'{}' is an address, and 'init' looks at files of this machine; draft a recipe "
                "from a part of them here, and write the address into its data section",
                without_passwords(request.path));
  if (!fs::exists(request.path, unknown))
    throw Error(
        Exit::recipe,
        "'{}' is neither a file or folder nor a built-in recipe; 'ddptrain init' shows their names",
        request.path);
  return draft_file(request);
}

/// The folder's or file's name as a recipe and a run can have it.
std::string name_for(const std::string& path) {
  auto whole = fs::absolute(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  std::string name;
  const auto stem = fs::is_directory(whole) ? whole.filename() : whole.stem();
  for (const unsigned char c : stem.string())
    name += std::isalnum(c) || c == '-' || c == '_' || c == '.' ? static_cast<char>(c) : '-';
  const auto first = name.find_first_not_of(".-");
  return first == std::string::npos ? "mine" : name.substr(first);
}

/// As given where that is absolute, else relative to the recipe.
std::string as_written(const std::string& path, const std::string& file) {
  if (fs::path(path).is_absolute()) return path;
  const auto home = file == "-" ? fs::current_path() : fs::absolute(file).parent_path();
  return fs::absolute(path).lexically_normal().lexically_proximate(home).string();
}

std::string recipe_of(const Draft& draft, const std::string& name) {
  return fmt::format(
      "{}# What: {}.\n"
      "# Written by `ddptrain init`; all of it may be changed, and `ddptrain describe KEY` says "
      "what a key means.\n"
      "recipe: 1\n"
      "name: {}\n\n{}{}",
      editor_line(all_catalogs()), draft.found.at(0), yaml_text(name), draft.recipe,
      parallel_line(draft.small_work));
}

/// A word of the shell.
std::string shell_word(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("-_./+=,:@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// What to type once the run has ended.
std::string use_line(const Draft& draft, const std::string& name, const std::string& path) {
  if (!draft.prompt.empty())
    return fmt::format("ddptrain generate {} {} --checkpoint best --top-p 0.9",
                       shell_word(fmt::format("runs/{}/latest", name)), shell_word(draft.prompt));
  return fmt::format("ddptrain predict {} {} --checkpoint best{}",
                     shell_word(fmt::format("runs/{}/latest", name)),
                     shell_word(draft.input.empty() ? path : draft.input),
                     draft.output.empty() ? "" : " --output " + shell_word(draft.output));
}

void require_free(const std::string& file, const Arguments& arguments) {
  if (fs::is_directory(file))
    throw Error(Exit::recipe, "'{}' is a folder; name a file, such as '{}'", file,
                (fs::path(file) / kRecipeYaml).string());
  if (fs::exists(file) && !arguments.has("--force"))
    throw Error(Exit::recipe, "'{}' is there already; --force replaces it, or name another file",
                file);
}

InitRequest request_of(const Arguments& arguments) {
  InitRequest request{arguments.words[0], "", arguments.value("--target"),
                      arguments.value("--text"), arguments.has("--table")};
  request.language = arguments.value("--task", "auto") == "language_model";
  if (request.table && !request.text.empty())
    throw Error(Exit::recipe, "--table and --text exclude each other");
  if (request.language && (request.table || !request.target.empty()))
    throw Error(Exit::recipe,
                "--task language_model reads texts alone: it excludes --target and --table");
  return request;
}

}  // namespace

int init_from_data(const Arguments& arguments) {
  auto request = request_of(arguments);
  const auto given = arguments.words.size() > 1 ? arguments.words[1] : std::string();
  const auto name = name_for(given.empty() || given == "-" ? request.path : given);
  const auto file = given.empty() ? name + ".yaml" : given;
  request.written = as_written(request.path, file);
  if (file != "-") require_free(file, arguments);
  const auto draft = draft_of(request);
  const auto text = recipe_of(draft, name);
  if (file == "-") return print_lines(text), 0;
  write_atomically(file, text);
  for (const auto& line : draft.found) print_shown("%s\n", line.c_str());
  print_shown("wrote %s\n\n  ddptrain run %s\n", file.c_str(), shell_word(file).c_str());
  print_shown("  %s\n", use_line(draft, name, request.path).c_str());
  return 0;
}

}  // namespace ddptrain
