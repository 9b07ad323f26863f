// Ranger as fastai has it: rectified Adam inside Lookahead.
#include "optim/optimizers/lookahead.h"
#include "optim/optimizers/radam.h"

namespace ddptrain {

struct RangerOptions {
  RadamOptions radam{.common = {.weight_decay = 1e-2},
                     .betas = {0.95, 0.99},
                     .eps = 1e-6,
                     .eps_after_debias = true,
                     .decoupled_weight_decay = true};
  LookaheadOptions lookahead;

  void fields(Fields& f) {
    radam.common.fields(f);
    betas_field(f, radam.betas);
    f("eps", radam.eps, {.doc = "Added to the debiased root of the mean square.", .min = 0});
    f("softplus", radam.softplus,
      {.doc = "Beta of a softplus over the root, fastai's beta; 0 is none.", .min = 0});
    f("decoupled_weight_decay", radam.decoupled_weight_decay,
      {.doc = "Decay the weights rather than add to the gradient."});
    lookahead.fields(f);
  }
};

Entry<Optimizer> ranger() {
  return entry<Optimizer, RangerOptions>(
      "ranger", "Rectified Adam inside Lookahead; defaults are fastai's.",
      [](const RangerOptions& options, std::vector<ParameterGroup> groups) {
        return make_lookahead(options.lookahead, make_radam(options.radam, std::move(groups)));
      },
      {"momentum", "lookahead"});
}

}  // namespace ddptrain
