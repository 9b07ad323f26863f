#include "losses/tried_losses.h"

namespace ddptrain {

/// What they take is as torch.nn and fastai.losses say.
const std::vector<TriedLoss>& tried_losses() {
  using enum Given;
  static const nlohmann::json weight{0.5, 1.0, 2.0, 0.25};
  static const std::vector<TriedLoss> all{
      {"bce_with_logits",
       {"takes_class", "takes_labels"},
       {{{}, probabilities}, {{{"pos_weight", weight}, {"weight", {2, 0, 1, 1}}}, probabilities}}},
      {"combined",
       {},
       {{{{"losses", {"cross_entropy", "fastai_dice", {{"type", "focal"}, {"weight", weight}}}},
          {"weights", {2.0, 0.5, 1.0}}},
         pixel_label}}},
      {"cross_entropy",
       {"takes_class", "takes_mask", "takes_token"},
       {{{}, label},
        {{}, probabilities},
        {{{"z_loss", 0.01}}, label},
        {{{"z_loss", 0.01}, {"label_smoothing", 0.1}}, probabilities},
        {{{"weight", weight}, {"label_smoothing", 0.2}}, label},
        {{{"weight", weight}, {"label_smoothing", 0.2}}, probabilities},
        {{{"weight", weight}, {"ignore_index", 2}, {"axis", -1}}, label},
        {{{"class_weights", "balanced"}}, label},
        {{{"label_smoothing", 0.1}, {"ignore_index", 0}}, pixel_label}}},
      {"fastai_dice",
       {"takes_mask"},
       {{{{"smooth", 0.5}, {"square_in_union", true}}, pixel_label}}},
      {"fastai_label_smoothing", {"takes_class", "takes_mask"}, {{{{"eps", 0.3}}, label}}},
      {"focal",
       {"takes_class", "takes_mask"},
       {{{{"gamma", 1.5}, {"weight", weight}}, label}, {{{"class_weights", "balanced"}}, label}}},
      {"huber", {"takes_number", "takes_points"}, {{{{"delta", 0.7}, {"scale", 1.6}}, number}}},
      {"kl_div", {"takes_labels"}, {{{}, probabilities}}, true},
      {"l1", {"takes_number", "takes_points"}, {{{}, number}, {{{"scale", 3}}, number}}},
      {"mse", {"takes_number", "takes_points"}, {{{}, number}, {{{"scale", 0.5}}, number}}},
      {"nll",
       {"takes_class", "takes_mask"},
       {{{{"weight", weight}, {"ignore_index", 1}}, label},
        {{{"class_weights", "balanced"}}, label}},
       true},
      {"smooth_l1", {"takes_number", "takes_points"}, {{{{"beta", 0.4}, {"scale", 2}}, number}}},
  };
  return all;
}

}  // namespace ddptrain
