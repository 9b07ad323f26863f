// `init` from a table of ratings.
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "base/text.h"
#include "jobs/draft/csv_sniff.h"
#include "jobs/draft/draft.h"
#include "jobs/draft/table_profile.h"

namespace ddptrain {
namespace {

/// What columns of ratings are called, without marks and in lower case: "movieId", "User-ID".
constexpr std::array<std::string_view, 3> kUserNames{"user", "userid", "users"};
constexpr std::array<std::string_view, 13> kItemNames{
    "item",   "itemid", "movie",   "movieid",   "film", "filmid", "book",
    "bookid", "isbn",   "product", "productid", "song", "songid"};
constexpr std::array<std::string_view, 4> kRatingNames{"rating", "ratings", "bookrating", "stars"};

std::string without_marks(const std::string& name) {
  std::string letters;
  for (const unsigned char c : lower(name))
    if (std::isalnum(c)) letters += static_cast<char>(c);
  return letters;
}

/// The one column of such a name; null where there is none, or several.
template <class Names>
const ColumnProfile* only_column(const TableProfile& profile, const Names& names) {
  const ColumnProfile* found = nullptr;
  for (const auto& column : profile.columns) {
    if (std::find(names.begin(), names.end(), without_marks(column.name)) == names.end()) continue;
    if (found) return nullptr;
    found = &column;
  }
  return found;
}

std::vector<std::string> found_ratings(const TableProfile& profile, const ColumnProfile& user,
                                       const ColumnProfile& item, const ColumnProfile& rating) {
  const auto& numbers = rating.cells.numbers;
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  std::vector<std::string> found{
      counted(profile.rows, "rating") + " by " + counted(user.distinct, "user") + " of " +
      counted(item.distinct, "item") + ", " + format_number(*low) + " to " + format_number(*high)};
  found.push_back("users: column '" + user.name + "'; items: column '" + item.name +
                  "'; ratings: column '" + rating.name + "'; --target COLUMN makes a table of it");
  std::vector<std::string> others;
  for (const auto& column : profile.columns)
    if (&column != &user && &column != &item && &column != &rating) others.push_back(column.name);
  if (!others.empty()) found.push_back("left out: " + join(others, ", "));
  found.push_back(found_split(""));
  return found;
}

}  // namespace

std::optional<Draft> draft_ratings(const InitRequest& request, const TableProfile& profile) {
  const auto* user = only_column(profile, kUserNames);
  const auto* item = only_column(profile, kItemNames);
  const auto* rating = only_column(profile, kRatingNames);
  if (!user || !item || !rating || !request.target.empty() || request.table) return {};
  if (!rating->numbers() || rating->missing > 0 || rating->distinct < 2) return {};
  const auto training = profile.rows * 4 / 5;
  const int epochs = training < 5000 ? 20 : 5;
  Draft draft;
  draft.found = found_ratings(profile, *user, *item, *rating);
  draft.recipe =
      "model: {type: embedding_dot_bias, n_factors: 50" + output_range(*rating) +
      "}\n# A network of layers in its place:\n# model: {type: collab_nn, layers: [50], ps: [0.1]" +
      output_range(*rating) + "}\n\ndata:\n  type: ratings\n  file: " + yaml_text(request.written) +
      "\n" + csv_lines(profile.csv) + missing_lines(profile.missing) +
      "  user: " + yaml_text(user->name) + "\n  item: " + yaml_text(item->name) +
      "\n  rating: " + yaml_text(rating->name) +
      "\n  valid: {fraction: 0.2, seed: 42}     # 20 % of the rows, always the same\n\nbatch: "
      "{global: " +
      std::to_string(fitting_batch(training, 64)) +
      "}\ntrain: {duration: " + std::to_string(epochs) +
      " epochs}\nloss: mse\nmetrics: [rmse, mae]\noptimizer: {type: adam, lr: 5e-3, weight_decay: "
      "0.1, decoupled_weight_decay: true}\n" +
      closing_lines("rmse", epochs);
  return draft;
}

}  // namespace ddptrain
