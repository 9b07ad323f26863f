#include "sources/split/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "base/names.h"
#include "base/random.h"
#include "base/text.h"
#include "sources/split/pattern.h"

namespace ddptrain {
namespace {

using Order = std::vector<std::int64_t>;

const Option kBy{"data.valid.fold.by"};
const Option kOf{"data.valid.fold.of"};
const Option kGroups{"data.valid.fold.groups"};

std::string folds(std::int64_t count) { return plural(count, "fold"); }

std::string place_of(std::size_t fold, const FoldSpec& spec) {
  return fmt::format("fold {} of {}", fold + 1, spec.of);
}

std::map<std::string, Order> by_key(const Order& order, const std::vector<std::string>& keys) {
  std::map<std::string, Order> found;
  for (const auto i : order) found[keys[static_cast<std::size_t>(i)]].push_back(i);
  return found;
}

FoldRule rule_of(const FoldSpec& spec, const FoldKeys& keys) {
  const auto rule =
      spec.by.value.value_or(keys.classes.empty() ? FoldRule::random : FoldRule::classes);
  if (rule == FoldRule::classes && keys.classes.empty())
    throw Error(Exit::data, kBy, "targets are not classes, one of each sample; write 'by: random'");
  if (rule == FoldRule::groups && keys.groups.empty())
    throw Error(Exit::data, kBy,
                "nothing says which group a sample is of; name a column in data.valid.fold.groups");
  return rule;
}

/// Groups that have the samples of one class each, and all of them, are the classes once more:
/// whichever fold is held out, training lacks its classes.
void require_other_than_classes(const FoldKeys& keys) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < keys.classes.size(); ++i)
    pairs.emplace(keys.classes[i], keys.groups[i]);
  const std::set<std::string> classes(keys.classes.begin(), keys.classes.end());
  const std::set<std::string> groups(keys.groups.begin(), keys.groups.end());
  if (pairs.empty() || pairs.size() != classes.size() || pairs.size() != groups.size()) return;
  throw Error(Exit::data, kBy,
              "each class is one group (class '{}', group '{}'), so training lacks the classes of "
              "the fold that is held out; data.valid.fold.groups gives the samples other groups",
              pairs.begin()->first, pairs.begin()->second);
}

/// Continues with the fold after that of the last sample dealt.
class Dealer {
 public:
  Dealer(std::int64_t n, std::int64_t of)
      : fold_of_(static_cast<std::size_t>(n)), of_(static_cast<std::size_t>(of)) {}

  void deal(const Order& samples) {
    for (const auto i : samples) {
      fold_of_[static_cast<std::size_t>(i)] = next_;
      next_ = (next_ + 1) % of_;
    }
  }
  std::vector<std::size_t> fold_of() && { return std::move(fold_of_); }

 private:
  std::vector<std::size_t> fold_of_;
  std::size_t of_;
  std::size_t next_ = 0;
};

std::vector<std::size_t> deal_classes(const Order& order, const FoldSpec& spec,
                                      const std::vector<std::string>& classes) {
  Dealer dealer(std::ssize(order), spec.of);
  for (const auto& [name, samples] : by_key(order, classes)) {
    if (std::ssize(samples) < spec.of)
      throw Error(Exit::data, kOf,
                  "class '{}' has {}, fewer than {}: {} would hold out none; take fewer folds, or "
                  "'by: random'",
                  name, plural(std::ssize(samples), "sample"), folds(spec.of),
                  place_of(samples.size(), spec));
    dealer.deal(samples);
  }
  return std::move(dealer).fold_of();
}

/// The samples of each group, largest first; equally large ones in the order of their first sample.
std::vector<Order> largest_first(const Order& order, const std::vector<std::string>& groups) {
  std::vector<Order> sorted;
  for (auto& [name, samples] : by_key(order, groups)) sorted.push_back(samples);
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = i;
  std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    if (a.size() != b.size()) return a.size() > b.size();
    return place[static_cast<std::size_t>(a[0])] < place[static_cast<std::size_t>(b[0])];
  });
  return sorted;
}

std::vector<std::size_t> deal_groups(const Order& order, const FoldSpec& spec,
                                     const std::vector<std::string>& groups) {
  const auto sorted = largest_first(order, groups);
  if (std::ssize(sorted) < spec.of)
    throw Error(Exit::data, kOf, "{}, fewer than {}: {} would hold out none",
                plural(std::ssize(sorted), "group"), folds(spec.of), place_of(sorted.size(), spec));
  std::vector<std::size_t> sizes(static_cast<std::size_t>(spec.of)), fold_of(order.size());
  for (const auto& group : sorted) {
    const auto smallest = std::min_element(sizes.begin(), sizes.end());
    *smallest += group.size();
    for (const auto i : group)
      fold_of[static_cast<std::size_t>(i)] = static_cast<std::size_t>(smallest - sizes.begin());
  }
  return fold_of;
}

std::vector<std::size_t> deal(const Order& order, const FoldSpec& spec, const FoldKeys& keys) {
  const auto rule = rule_of(spec, keys);
  if (rule == FoldRule::classes) return deal_classes(order, spec, keys.classes);
  if (rule == FoldRule::groups) {
    require_other_than_classes(keys);
    return deal_groups(order, spec, keys.groups);
  }
  Dealer dealer(std::ssize(order), spec.of);
  dealer.deal(order);
  return std::move(dealer).fold_of();
}

/// Each class must be in two folds, so that whichever is held out leaves some to train on.
void require_classes_in_training(const std::vector<std::size_t>& fold_of, const FoldSpec& spec,
                                 const std::vector<std::string>& classes) {
  std::map<std::string, std::set<std::size_t>> met;
  for (std::size_t i = 0; i < classes.size(); ++i) met[classes[i]].insert(fold_of[i]);
  for (const auto& [name, in] : met)
    if (in.size() == 1)
      throw Error(Exit::data, kOf,
                  "class '{}': all of its samples are in {}, whose training part lacks the class",
                  name, place_of(*in.begin(), spec));
}

void fold_fields(Fields& f, FoldSpec& spec, const Spec& groups) {
  f("index", spec.index, {.doc = "Which fold is held out, from 0.", .min = 0});
  f("of", spec.of, {.doc = "How many folds there are.", .min = 2});
  f("by", spec.by,
    {.doc = "'random', 'classes': each fold has as many samples of each class, give or take one; "
            "'groups': those of a group are in one fold. auto: classes where targets are "
            "classes, else random."});
  f("groups", spec.groups, groups);
  f.require(below("index", "of"));
  f.require(needs("groups", is("by", "groups")));
}

std::vector<std::string> folders_of(const std::vector<std::string>& paths) {
  std::vector<std::string> folders;
  for (const auto& path : paths)
    folders.push_back(std::filesystem::path(path).parent_path().string());
  return folders;
}

}  // namespace

std::span<const std::string_view> names(FoldRule) {
  return kNameList<"random", "classes", "groups">;
}

void FoldSpec::fields(Fields& f) {
  fold_fields(f, *this,
              {.doc = "The column that says which group a sample is of; where samples are files "
                      "without rows, a regular expression whose first group ( ) over a file's path "
                      "is the group."});
}

void FileFoldSpec::fields(Fields& f) {
  fold_fields(f, *this,
              {.doc = "Regular expression whose first group ( ) over a file's path below root is "
                      "the group of the file, as in '/(patient\\d+)_'; null: the file's folder.",
               .example = "'/(patient\\d+)_'",
               .form = TextForm::pattern_with_group});
}

Parts fold_parts(std::int64_t n, const FoldSpec& spec, const FoldKeys& keys, std::int64_t seed) {
  if (n < spec.of)
    throw Error(Exit::data, kOf, "{}, fewer than {}: {} would hold out none", plural(n, "sample"),
                folds(spec.of), place_of(static_cast<std::size_t>(n), spec));
  Stream random(mix(static_cast<std::uint64_t>(seed), hash_text("data folds")), 0);
  const auto fold_of = deal(random_order(n, n, random), spec, keys);
  require_classes_in_training(fold_of, spec, keys.classes);
  Parts parts;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool held = fold_of[static_cast<std::size_t>(i)] == static_cast<std::size_t>(spec.index);
    (held ? parts.valid : parts.train).push_back(i);
  }
  return parts;
}

std::vector<std::string> groups_of_files(const std::vector<std::string>& paths,
                                         const FoldSpec& spec) {
  if (!spec.groups) return folders_of(paths);
  if (const auto problem = Pattern::lacks_for_group(*spec.groups); !problem.empty())
    throw Error(Exit::recipe, kGroups, "'{}' {}", *spec.groups, problem);
  const Pattern pattern(*spec.groups);
  std::vector<std::string> groups;
  for (const auto& path : paths) {
    auto group = pattern.first_group(path);
    if (!group) throw Error(Exit::data, kGroups, "'{}' does not match", path);
    if (group->empty()) throw Error(Exit::data, kGroups, "'{}' has an empty group", path);
    groups.push_back(std::move(*group));
  }
  return groups;
}

}  // namespace ddptrain
