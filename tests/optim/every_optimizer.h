// Every optimizer of the catalog, for what holds for all.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace ddptrain::testing_optim {

/// With what makes it keep all the state it can. Muon, which wants matrices, is not among them.
inline std::vector<nlohmann::json> every_optimizer() {
  return {{{"type", "sgd"}, {"lr", 0.1}, {"momentum", 0.9}, {"dampening", 0.1}},
          {{"type", "adam"}, {"lr", 0.1}, {"amsgrad", true}, {"weight_decay", 0.1}},
          {{"type", "adamw"}, {"lr", 0.1}},
          {{"type", "rmsprop"}, {"lr", 0.1}, {"momentum", 0.9}, {"centered", true}},
          {{"type", "radam"}, {"lr", 0.1}, {"betas", {0.9, 0.8}}},
          {{"type", "lamb"}, {"lr", 0.1}},
          {{"type", "lars"}, {"lr", 0.1}, {"momentum", 0.9}, {"weight_decay", 0.1}},
          {{"type", "ranger"}, {"lr", 0.1}, {"k", 2}},
          {{"type", "adadelta"}, {"lr", 1}, {"weight_decay", 0.1}},
          {{"type", "adafactor"}, {"lr", 0.1}},
          {{"type", "adagrad"}, {"lr", 0.1}, {"initial_accumulator_value", 0.1}},
          {{"type", "adamax"}, {"lr", 0.1}},
          {{"type", "larc"}, {"lr", 0.1}},
          {{"type", "lion"}, {"lr", 0.1}},
          {{"type", "nadam"}, {"lr", 0.1}},
          {{"type", "qhadam"}, {"lr", 0.1}},
          {{"type", "lookahead"}, {"inner", {{"type", "adam"}, {"lr", 0.1}}}, {"k", 3}}};
}

}  // namespace ddptrain::testing_optim
