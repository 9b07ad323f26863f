// The recipe fragment that stands for a fastai optimizer: its defaults written out, its names
// translated (fastai 2.8.12, fastai/optimizer.py).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ddptrain::golden {

inline nlohmann::json fastai_optimizer(const std::string& name, const nlohmann::json& options,
                                       const std::string& inner = "") {
  const bool decoupled = options.value("decouple_wd", true);
  const auto common = [&](const std::string& type, double weight_decay) {
    return nlohmann::json{{"type", type},
                          {"lr", options.at("lr")},
                          {"weight_decay", options.value("wd", weight_decay)}};
  };
  const auto adam_like = [&](const std::string& type, double mom, double eps, double weight_decay) {
    auto made = common(type, weight_decay);
    made["betas"] = {options.value("mom", mom), options.value("sqr_mom", 0.99)};
    made["eps"] = options.value("eps", eps);
    made["decoupled_weight_decay"] = decoupled;
    return made;
  };
  nlohmann::json made;
  if (name == "sgd") {
    made = common("sgd", 0);
    made["momentum"] = options.value("mom", 0.0);
    made["decoupled_weight_decay"] = decoupled;
  } else if (name == "rmsprop") {  // ignores its eps argument
    made = common("rmsprop", 0);
    made["alpha"] = options.value("sqr_mom", 0.99);
    made["momentum"] = options.value("mom", 0.0);
    made["momentum_of"] = "gradient";
    made["decoupled_weight_decay"] = decoupled;
  } else if (name == "adam") {
    made = adam_like("adam", 0.9, 1e-5, 0.01);
  } else if (name == "radam") {
    made = adam_like("radam", 0.9, 1e-5, 0);
    made["eps_after_debias"] = true;
    made["softplus"] = options.value("beta", 0.0);
  } else if (name == "lamb") {
    made = adam_like("lamb", 0.9, 1e-5, 0);
    made.erase("decoupled_weight_decay");
    made["decay_in"] = decoupled ? "weights" : "gradient";
    made["max_grad_norm"] = nullptr;
    made["max_trust"] = 10;
    made["always_adapt"] = true;
  } else if (name == "ranger") {
    made = adam_like("ranger", 0.95, 1e-6, 0.01);
    made["softplus"] = options.value("beta", 0.0);
  } else if (name == "qhadam") {
    made = adam_like("qhadam", 0.999, 1e-8, 0);
    made["betas"][1] = options.value("sqr_mom", 0.999);
    made["nus"] = {options.value("nu_1", 0.7), options.value("nu_2", 1.0)};
  } else if (name == "larc") {
    made = common("larc", 0);
    made["momentum"] = options.value("mom", 0.9);
    made["clip"] = options.value("clip", true);
    made["trust_coeff"] = options.value("trust_coeff", 0.02);
    made["eps"] = options.value("eps", 1e-8);
    made["decoupled_weight_decay"] = decoupled;
  } else if (name == "lookahead") {
    made = {{"type", "lookahead"}, {"inner", fastai_optimizer(inner, options)}};
  }
  for (const char* key : {"k", "alpha"})
    if ((name == "ranger" || name == "lookahead") && options.contains(key))
      made[key] = options[key];
  return made;
}

}  // namespace ddptrain::golden
