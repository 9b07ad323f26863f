#include "recipe/layers/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/url.h"
#include "config/scalar.h"
#include "config/yaml/reader.h"
#include "recipe/layers/literal_secrets.h"
#include "recipe/layers/references.h"
#include "recipe/run_folders.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 200;

/// "optimizer.lr", where a value was forgotten.
bool is_key(const std::string& word) {
  const auto extension = fs::path(word).extension();
  const bool has_dots = word.find('.') != std::string::npos && !word.starts_with('.');
  return has_dots && extension != ".yaml" && extension != ".yml" && extension != ".json" &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.[]") == std::string::npos;
}

std::vector<std::string> recipes_beside(const fs::path& file) {
  std::vector<std::string> names;
  const auto folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code unknown;
  for (fs::directory_iterator at(folder, unknown), end; !unknown && at != end;
       at.increment(unknown))
    if (at->path().extension() == ".yaml" && names.size() < kMostFiles)
      names.push_back((file.parent_path() / at->path().filename()).string());
  return names;
}

std::string normal(const fs::path& path) { return path.lexically_normal().string(); }

/// What a user may have meant who named this on the command line.
std::string hint_for(const std::string& file) {
  std::error_code unknown;
  const auto recipe = (fs::path(file) / kRecipeYaml).string();
  if (fs::is_regular_file(recipe, unknown)) return fmt::format("; its recipe is '{}'", recipe);
  if (fs::exists(file, unknown)) return {};
  if (is_key(file)) return fmt::format("; a value is changed with '{}=VALUE'", file);
  if (fs::path(file).stem().string().size() < 3) return {};  // every short name is near
  return did_you_mean(nearest(file, recipes_beside(file)));
}

/// Where one file is named: in another's `extends`, or on the command line.
struct Named {
  std::string file;
  Place place;
};

constexpr std::size_t kLongestKept = 1000;  // bytes; messages show no line of so many

/// Counted from 1, and its beginning where it is long; empty behind the last one.
std::string line_of(std::string_view text, int number) {
  for (; number > 1; --number) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return std::string(text.substr(0, std::min(text.find('\n'), kLongestKept)));
}

class Reader {
 public:
  Reader(Layered& result, const Watch& watch) : result_(result), watch_(watch) {}

  /// The file over what it extends.
  Node file(const Named& named) {
    if (!enter(named)) return Node::map();
    chain_.push_back(named);
    auto own = read(named);
    Node merged = Node::map({}, own.place);
    for (const auto& base : take_bases(own, named.file)) over(merged, file(base), false);
    chain_.pop_back();
    drop_notes(own);
    over(merged, own, true);
    return merged;
  }

  /// Merges one layer over what is there.
  void over(Node& merged, const Node& layer, bool by_itself) const {
    const Node before = watch_ ? merged : Node();
    merge(merged, layer, "", result_.dropped);
    if (watch_) watch_({before, &layer, merged, by_itself, {}});
  }

 private:
  void problem(const std::string& rule, const Place& place, const std::string& message) {
    result_.problems.push_back({Severity::error, rule, place, "", message});
  }

  void drop_notes(Node& own) {
    const auto first =
        std::stable_partition(own.members.begin(), own.members.end(),
                              [](const Member& m) { return !m.key.starts_with("x-"); });
    const auto notes = Node::map({first, own.members.end()});
    for (auto& problem : literal_secrets(notes)) result_.problems.push_back(std::move(problem));
    own.members.erase(first, own.members.end());
  }

  bool enter(const Named& named) {
    std::vector<std::string> files;
    for (const auto& before : chain_) files.push_back(before.file);
    if (std::find(files.begin(), files.end(), named.file) != files.end()) {
      files.push_back(named.file);
      problem("extends-cycle", named.place, join(files, " extends "));
      return false;
    }
    if (result_.sources.size() < kMostFiles) return true;
    problem("extends", named.place, fmt::format("more than {} files", kMostFiles));
    return false;
  }

  Node read(const Named& named) {
    std::string text;
    if (!url_scheme(named.file).empty()) {
      problem("file", named.place,
              fmt::format("'{}' is a URL, and recipes are files on this machine; fetch it first, "
                          "for example with 'curl -O'",
                          without_passwords(named.file)));
      return Node::map();
    }
    try {
      const bool input = named.file == "-" && !named.place.known();
      // Of the command line a pipe is taken: `ddptrain validate <(make_recipe)`.
      const auto read = named.place.known() ? read_beginning : read_given;
      // A byte order mark, and one too many.
      text = read(input ? "/dev/stdin" : named.file, ReadLimits{}.bytes + 4);
    } catch (const Error& error) {
      problem("file", named.place,
              std::string(error.what()) + (named.place.known() ? "" : hint_for(named.file)));
      return Node::map();
    }
    auto result = read_yaml(text, named.file);
    result_.sources.push_back({named.file, std::move(text), extended_from()});
    for (auto& found : result.problems) result_.problems.push_back(std::move(found));
    return result.tree.is_map() ? std::move(result.tree) : Node::map();
  }

  /// Where the file under way is named, innermost first.
  std::vector<Place> extended_from() const {
    std::vector<Place> places;
    for (auto file = chain_.rbegin(); file != chain_.rend(); ++file)
      if (file->place.known()) places.push_back(file->place);
    return places;
  }

  /// Removes `extends` from the tree; files are relative to the one that names them.
  std::vector<Named> take_bases(Node& tree, const std::string& from) {
    std::vector<Named> bases;
    const Node* extends = tree.find("extends");
    if (!extends) return bases;
    const bool one = extends->is_scalar();
    const auto items = one ? std::vector<Node>{*extends} : extends->items;
    if (!one && !extends->is_list())
      problem("extends", extends->place, "write a file or a list of files");
    for (const auto& item : items) {
      if (!item.is_scalar() || item.text.empty()) {
        problem("extends", item.place, describe(item) + " is not a file");
        continue;
      }
      const auto before = result_.problems.size();
      const auto text = replace_environment(item.text, item.place, result_.problems);
      if (result_.problems.size() > before) continue;  // such a file is not sought
      const auto path = fs::path(from).parent_path() / text;
      bases.push_back({url_scheme(text).empty() ? normal(path) : text, item.place});
    }
    std::erase_if(tree.members, [](const Member& m) { return m.key == "extends"; });
    return bases;
  }

  Layered& result_;
  const Watch& watch_;
  std::vector<Named> chain_;
};

}  // namespace

Layered read_layers(const std::vector<std::string>& files,
                    const std::vector<std::string>& overrides, const Watch& watch) {
  Layered result;
  result.tree = Node::map({}, {files.empty() ? "command line" : files.back(), 1, 1, 1});
  Reader reader(result, watch);
  for (const auto& file : files) {
    const auto name = url_scheme(file).empty() ? normal(file) : file;
    reader.over(result.tree, reader.file({name, {}}), false);
  }
  result.whole = !has_errors(result.problems);
  if (!result.whole) return result;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const Place place{"command line", static_cast<int>(i) + 1, 0, 1};
    const Node before = watch ? result.tree : Node();
    apply_override(result.tree, overrides[i], place, result.problems, result.dropped);
    if (watch) watch({before, nullptr, result.tree, true, place});
  }
  replace_references(result.tree, result.problems);
  return result;
}

void add_sources(Problems& problems, const std::vector<Source>& sources) {
  std::map<std::string_view, const Source*> by_file;
  for (const auto& source : sources) by_file.emplace(source.file, &source);
  for (auto& problem : problems) {
    const auto found = by_file.find(problem.place.file);
    if (found == by_file.end()) continue;
    problem.extended_from = found->second->extended_from;
    if (in_file(problem.place)) problem.line = line_of(found->second->text, problem.place.line);
  }
}

}  // namespace ddptrain
