// The options that every optimizer has.
#include "recipe/optimizer_options.h"

#include "base/names.h"
#include "config/decode.h"

namespace ddptrain {

std::span<const std::string_view> names(LrScaling) { return kNameList<"linear", "sqrt">; }

void OptimizerCommon::fields(Fields& f) {
  f("lr", lr,
    {.doc = "Learning rate that the schedule scales: one number, or {from, to} over layer "
            "groups."});
  f("weight_decay", weight_decay, {.doc = "Weight decay.", .min = 0});
  f("no_decay", no_decay,
    {.doc = "Parameters without weight decay: norm, bias, or name patterns with *."});
  f("lr_batch", lr_batch,
    {.doc = "The global batch that lr is for; the rate scales with the batch. Null: it does not.",
     .min = 1,
     .unit = "samples"});
  f("lr_scaling", lr_scaling,
    {.doc = "With lr_batch: the rate scales with the batch, or with its square root."});
  f.require(needs(is("lr_scaling", "sqrt"), "lr_batch"));
}

OptimizerCommon common_options(const ChoiceBase& optimizer) {
  const Node* node = &optimizer.node();
  for (const Node* inner = node->find("inner"); inner && inner->is_map();
       inner = node->find("inner"))
    node = inner;
  return decode<OptimizerCommon>(*node);
}

void betas_field(Fields& f, std::vector<double>& betas) {
  f("betas", betas,
    {.doc = "Decay rates of the running means of the gradient and of its square.",
     .min = 0,
     .max = 1,
     .below_max = true,
     .min_items = 2,
     .max_items = 2});
}

void LearningRate::fields(Fields& f) {
  f("to", to, {.doc = "Rate of the last layer group, and of all groups by default.", .min = 0});
  f("from", from,
    {.doc = "Rate of the first layer group; the others lie on a geometric row up to `to`.",
     .min = 0,
     .above_min = true});
  f("others", others,
    {.doc = "Rate of every layer group but the last, instead of a row.", .min = 0});
}

}  // namespace ddptrain
