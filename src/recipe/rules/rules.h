// Rules between parts of a recipe. Each is a small function that reads values and traits, never
// classes; they stand by topic in recipe/rules/.
//
// Traits that they ask for:
//   model      batch_norm, body (can lend it), takes_images, takes_tables, takes_texts,
//              continues_texts, reads_documents (of a packed block each by itself), blocks (that
//              train.recompute computes again), huggingface TYPE (of its config.json),
//              classifies_pixels, any_outputs, reads_segments OPTION (tokens of a segment, by
//              which texts are padded in front), embeds NAMES (models/embeddings.h: the
//              tensors of each column, joined by +, or of all with *), features LAYERS NORM
//              and outputs LAYERS (train/transfer/row_names.cpp)
//   layer      batch_norm
//   model, layer  varies_on_cuda (an operator has no deterministic kernel there), or so with
//              an option: varies_on_cuda OPTION=VALUE, varies_on_cuda OPTION!=VALUE
//   data       gives_images, gives_tables, gives_texts, gives_weights, gives_shards, of targets
//              (recipe/targets.h) gives_class, gives_number, gives_masks, gives_points,
//              gives_tokens, labels_by OPTION, numbers_by OPTION, task_by OPTION
//   sampler    in_order (of the data), wants_texts, wants_weights, repeats (a sample several times
//              in a row)
//   mix        wants_images
//   transform  random, normalizes, before_normalize (wants colors in 0 to 1), crops, and of the
//              size that comes out gives_size (the option), resizes, changes_size
//   metric     smaller_is_better, larger_is_better, at_most_1, named NAME (with {option} or *)
//   optimizer  momentum, lookahead, keeps_momentum_alone (of state), usual_lr NUMBER,
//              usual_weight_decay NUMBER (at most, where others than most:
//              recipe/rules/usual.cpp)
//   schedule   momentum
//   callback   changes_rate
#pragma once

#include <string>
#include <vector>

#include "config/problem.h"
#include "recipe/rules/rule_context.h"

namespace ddptrain {

/// A rule reports what it finds through the context, as often as it likes.
struct Rule : RuleDoc {
  void (*check)(const RuleContext&);
};

/// Every rule, topic by topic; ids are unique.
const std::vector<Rule>& all_rules();

/// What the rules find in a recipe; `tree` holds it as layered, with places.
Problems check_rules(const Recipe& recipe, const Node& tree, const Catalogs& catalogs);

/// The batch arithmetic of a checked recipe for a number of devices: no problem or one.
Problems check_batch(const Recipe& recipe, const Node& tree, std::int64_t devices);

std::vector<Rule> batch_rules();
std::vector<Rule> device_rules();
std::vector<Rule> parallel_rules();
std::vector<Rule> offload_rules();
std::vector<Rule> node_rules();
std::vector<Rule> length_rules();
std::vector<Rule> schedule_rules();
std::vector<Rule> stage_rules();
std::vector<Rule> optimizer_rules();
std::vector<Rule> usual_rules();
std::vector<Rule> average_rules();
std::vector<Rule> metric_rules();
std::vector<Rule> metric_range_rules();
std::vector<Rule> callback_rules();
std::vector<Rule> data_rules();
std::vector<Rule> token_rules();
std::vector<Rule> sample_rules();
std::vector<Rule> split_rules();
std::vector<Rule> kind_rules();
std::vector<Rule> mix_rules();
std::vector<Rule> transform_rules();
std::vector<Rule> progressive_rules();
std::vector<Rule> weights_rules();
std::vector<Rule> model_rules();
std::vector<Rule> run_rules();
std::vector<Rule> path_rules();
std::vector<Rule> sweep_rules();

}  // namespace ddptrain
