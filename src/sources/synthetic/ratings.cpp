#include "sources/synthetic/ratings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "sources/synthetic/new_file.h"

namespace ddptrain {
namespace {

constexpr std::size_t kTraits = 3;
constexpr double kMiddle = 3.2, kOwn = 0.3, kTaste = 0.7, kNoise = 0.3;

/// Of a user or an item: deviation 1 each.
struct Rated {
  double own = 0;
  std::array<double, kTraits> traits{};
};

/// Deviation 1, by sums and products alone.
double around_zero(Stream& random) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum - 6;
}

std::vector<Rated> draw_rated(int count, std::uint64_t key) {
  std::vector<Rated> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) {
    Stream random(key, i);
    all[i].own = around_zero(random);
    for (double& trait : all[i].traits) trait = around_zero(random);
  }
  return all;
}

double rating_of(const Rated& user, const Rated& item, Stream& random) {
  double taste = 0;
  for (std::size_t i = 0; i < kTraits; ++i) taste += user.traits[i] * item.traits[i];
  const double rating = kMiddle + kOwn * (user.own + item.own) +
                        kTaste * taste / std::sqrt(double(kTraits)) + kNoise * around_zero(random);
  return std::clamp(std::floor(2 * rating + 0.5) / 2, 0.5, 5.0);
}

}  // namespace

std::string ratings_csv(const RatingsOptions& options) {
  const auto pairs = std::int64_t{options.users} * options.items;
  if (options.rows > pairs)
    throw Error(Exit::recipe, "{} rows; there are {} pairs of users and items", options.rows,
                pairs);
  const auto key = mix(options.seed, hash_text("ratings"));
  const auto users = draw_rated(options.users, mix(key, 1));
  const auto items = draw_rated(options.items, mix(key, 2));
  Stream random(mix(key, 3), 0);
  std::set<std::pair<std::size_t, std::size_t>> met;
  std::string text = "user,item,rating\n";
  while (std::ssize(met) < options.rows) {
    const std::size_t user = random.below(users.size()), item = random.below(items.size());
    if (!met.insert({user, item}).second) continue;
    const double rating = rating_of(users[user], items[item], random);
    text += fmt::format("{},{},{}\n", user + 1, item + 1, format_fixed(rating, 1));
  }
  return text;
}

bool make_ratings(const std::string& folder, const RatingsOptions& options) {
  return write_new(folder, "ratings.csv", ratings_csv(options));
}

}  // namespace ddptrain
