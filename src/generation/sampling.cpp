#include "generation/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace ddptrain {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Candidate {
  std::size_t token;
  double score;
};

/// In order of token.
using Candidates = std::vector<Candidate>;

Candidates candidates_of(const std::vector<double>& scores, double temperature) {
  Candidates all;
  all.reserve(scores.size());
  for (std::size_t token = 0; token < scores.size(); ++token)
    if (scores[token] != kNever) all.push_back({token, scores[token] / temperature});
  return all;
}

double largest_score(const Candidates& candidates) {
  double largest = kNever;
  for (const auto& candidate : candidates) largest = std::max(largest, candidate.score);
  return largest;
}

std::vector<double> softmax(const Candidates& candidates) {
  const double largest = largest_score(candidates);
  std::vector<double> shares;
  shares.reserve(candidates.size());
  for (const auto& candidate : candidates) shares.push_back(std::exp(candidate.score - largest));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (auto& share : shares) share /= sum;
  return shares;
}

/// Those whose flag is set, in the same order.
void keep(Candidates& candidates, const std::vector<bool>& kept) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (kept[i]) candidates[count++] = candidates[i];
  candidates.resize(count);
}

void keep_top_k(Candidates& candidates, std::int64_t k) {
  if (k <= 0 || k >= std::ssize(candidates)) return;
  std::vector<double> scores;
  scores.reserve(candidates.size());
  for (const auto& candidate : candidates) scores.push_back(candidate.score);
  const auto last = scores.begin() + (k - 1);
  std::nth_element(scores.begin(), last, scores.end(), std::greater<>());
  std::erase_if(candidates, [&](const Candidate& each) { return each.score < *last; });
}

/// The least likely ones go, as long as they have at most 1 - p together.
void keep_top_p(Candidates& candidates, double p) {
  if (p >= 1 || candidates.empty()) return;
  const auto shares = softmax(candidates);
  const double rest = 1 - p;
  // All of at most this share have half of the rest together: they need not be sorted.
  const double surely = rest / 2 / static_cast<double>(shares.size());
  double sum = 0;
  std::vector<bool> kept(shares.size(), true);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] > surely) {
      order.push_back(i);
      continue;
    }
    sum += shares[i];
    kept[i] = false;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a] < shares[b]; });
  for (std::size_t i = 0; i + 1 < order.size() && (sum += shares[order[i]]) <= rest; ++i)
    kept[order[i]] = false;
  keep(candidates, kept);
}

void keep_min_p(Candidates& candidates, double least) {
  if (least <= 0) return;
  const double largest = largest_score(candidates);
  std::erase_if(candidates,
                [&](const Candidate& each) { return std::exp(each.score - largest) < least; });
}

/// How far the surprise of each token is from the expected one (Meister et al. 2022): the nearest
/// stay, up to those that bring their sum to `mass`.
void keep_typical(Candidates& candidates, double mass) {
  if (mass >= 1 || candidates.empty()) return;
  const auto shares = softmax(candidates);
  double entropy = 0;
  for (const auto share : shares)
    if (share > 0) entropy -= share * std::log(share);
  std::vector<double> distances;
  for (const auto share : shares) distances.push_back(std::abs(-std::log(share) - entropy));
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distances[a] < distances[b]; });
  std::size_t last = 0;
  for (double sum = shares[order[0]]; sum < mass && last + 1 < order.size();)
    sum += shares[order[++last]];
  std::vector<bool> kept;
  for (const auto distance : distances) kept.push_back(distance <= distances[order[last]]);
  keep(candidates, kept);
}

/// Once for each token, however often it occurs.
void penalize_repeated(std::vector<double>& scores, std::span<const std::int64_t> before,
                       double penalty) {
  std::vector<std::int64_t> tokens(before.begin(), before.end());
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (const auto token : tokens) {
    auto& score = scores.at(static_cast<std::size_t>(token));
    score = score < 0 ? score * penalty : score / penalty;
  }
}

void forbid_repeated_runs(std::vector<double>& scores, std::span<const std::int64_t> before,
                          std::size_t n) {
  if (n == 0 || before.size() + 1 < n) return;
  const auto end = before.last(n - 1);
  for (std::size_t i = 0; i + n <= before.size(); ++i)
    if (std::equal(end.begin(), end.end(), before.begin() + static_cast<std::ptrdiff_t>(i)))
      scores.at(static_cast<std::size_t>(before[i + n - 1])) = kNever;
}

void require_scores(const std::vector<double>& scores) {
  for (std::size_t token = 0; token < scores.size(); ++token)
    if (!(scores[token] < std::numeric_limits<double>::infinity()))
      throw Error(Exit::non_finite,
                  "the score of token {} is {}: the model's weights are of no use", token,
                  scores[token]);
}

/// The first of the largest. At least one score.
std::int64_t arg_max(std::span<const double> scores) {
  return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

}  // namespace

void penalize(std::vector<double>& scores, std::span<const std::int64_t> before,
              const SamplingOptions& options) {
  if (options.repetition_penalty != 1)
    penalize_repeated(scores, before, options.repetition_penalty);
  forbid_repeated_runs(scores, before, static_cast<std::size_t>(options.no_repeat_ngram));
}

std::vector<double> probabilities(std::vector<double> scores, std::span<const std::int64_t> before,
                                  const SamplingOptions& options) {
  penalize(scores, before, options);
  auto candidates = candidates_of(scores, options.temperature);
  keep_top_k(candidates, options.top_k);
  keep_top_p(candidates, options.top_p);
  keep_min_p(candidates, options.min_p);
  keep_typical(candidates, options.typical_p);
  const auto shares = softmax(candidates);
  std::fill(scores.begin(), scores.end(), 0);
  for (std::size_t i = 0; i < shares.size(); ++i) scores[candidates[i].token] = shares[i];
  return scores;
}

std::int64_t draw(std::span<const double> probabilities, double uniform) {
  const double wanted = uniform * std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  double sum = 0;
  std::int64_t last = 0;
  for (std::int64_t token = 0; token < std::ssize(probabilities); ++token) {
    const double share = probabilities[static_cast<std::size_t>(token)];
    if (share <= 0) continue;
    last = token;
    sum += share;
    if (sum > wanted) return token;
  }
  return last;
}

double uniform_at(std::uint64_t seed, std::uint64_t sequence, std::int64_t place) {
  static const auto purpose = hash_text("generation");
  return Stream(mix(seed, purpose), sequence, static_cast<std::uint64_t>(place)).uniform();
}

std::int64_t next_token(std::vector<double> scores, std::span<const std::int64_t> before,
                        const SamplingOptions& options, double uniform) {
  require_scores(scores);
  if (!options.greedy()) {
    const auto shares = probabilities(std::move(scores), before, options);
    const auto token = draw(shares, uniform);
    if (shares[static_cast<std::size_t>(token)] > 0) return token;
  } else {
    penalize(scores, before, options);
    const auto token = arg_max(scores);
    if (scores[static_cast<std::size_t>(token)] != kNever) return token;
  }
  throw Error(Exit::recipe, Option{"no_repeat_ngram"},
              "{}: no token can follow without a repetition; a larger number allows more",
              options.no_repeat_ngram);
}

}  // namespace ddptrain
