// Which targets a loss or a metric takes, and what the model must give for them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/catalog.h"
#include "recipe/data_facts.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// What is to be predicted: the number of a class; a zero or a one for each of several labels; real
/// numbers; the number of a class for each pixel; points of an image; the next token of a text.
enum class TargetKind { classes, labels, numbers, masks, points, tokens };
inline constexpr std::array kTargetKinds{TargetKind::classes, TargetKind::labels,
                                         TargetKind::numbers, TargetKind::masks,
                                         TargetKind::points,  TargetKind::tokens};

struct Targets {
  TargetKind kind = TargetKind::classes;
  std::int64_t classes = 0;  // 0: not known, or not a classification
};

/// Those of data.
Targets targets_of(const DataFacts& facts);

/// Traits of losses and metrics: "takes_class", "takes_labels", "takes_number", "takes_mask",
/// "takes_points" and "takes_token" say what they take (one without any takes what there is);
/// "two_classes" that they are about two classes at most; "one_output" that the model may then give
/// one output for both.

/// What is between the labels of a sample that may have several; nothing where it has one. A trait
/// of the dataset, "labels_by OPTION", names the option that says so.
std::optional<std::string> label_delimiter(const Recipe& recipe, const Catalogs& catalogs);

/// The columns of numbers that it lists as targets; none where it does not. A trait of the dataset,
/// "numbers_by OPTION", names the option that may be such a list.
std::vector<std::string> listed_numbers(const Recipe& recipe, const Catalogs& catalogs);

/// The kind that the recipe itself determines; nothing where only the data do. A dataset with the
/// trait "gives_class" gives classes, one with "gives_number" numbers, unless its options say
/// otherwise: with several labels, where the option that its trait "numbers_by OPTION" names lists
/// some, or as the one of "task_by OPTION" says. "gives_masks", "gives_points" and "gives_tokens"
/// are traits of those that give nothing else.
std::optional<TargetKind> written_target(const Recipe& recipe, const Catalogs& catalogs);

/// Whether samples are streams of tokens, each of which continues one of the batch before:
/// `blocks.layout` of data that give tokens, `streams` unless it is written.
bool gives_streams(const Recipe& recipe, const Catalogs& catalogs);

/// What is trained and evaluated with where a recipe says `auto`.
Choice<Loss> usual_loss(TargetKind kind);
std::vector<Choice<Metric>> usual_metrics(TargetKind kind);

/// Why an entry of a catalog cannot be used with such targets, and what to write instead; empty
/// where it can.
std::string target_misfit(const EntryBase& entry, const CatalogBase& catalog,
                          const Targets& targets);

/// Why a model cannot be trained on such targets of a dataset, both named; empty where it can. A
/// model with the trait "classifies_pixels" gives a class for each pixel, one with
/// "continues_texts" the next token at each place, one with "any_outputs" what its layers give, and
/// others something of a whole sample.
std::string model_misfit(const EntryBase& model, const CatalogBase& models,
                         const std::string& dataset, TargetKind kind);

/// What a model gives: a tensor [rows, ...] of this shape.
struct ModelOutput {
  const EntryBase& model;
  const std::vector<std::int64_t>& shape;
};

/// The same of an output: classes want one each along `axis` of the entry's options, or along axis
/// 1. Advises what the model has: an option `num_classes`, or layers that a user wrote, in Python
/// those of one with the trait "scripted".
std::string output_misfit(const EntryBase& entry, const ChoiceBase& choice, const Targets& targets,
                          const ModelOutput& output);

}  // namespace ddptrain
