// A topology from variables of the environment, as launchers set them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"
#include "launch/topology.h"

namespace ddptrain::test {

using Settings = std::map<std::string, std::string>;

inline Topology topology_of(const Settings& variables) {
  return topology_from([&](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

inline std::string refusal(const Settings& variables) {
  try {
    topology_of(variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    return error.what();
  }
  return "";
}

inline const Settings torchrun{{"RANK", "3"},
                               {"WORLD_SIZE", "4"},
                               {"LOCAL_RANK", "1"},
                               {"LOCAL_WORLD_SIZE", "2"},
                               {"MASTER_ADDR", "node0"},
                               {"MASTER_PORT", "29500"},
                               {"TORCHELASTIC_RUN_ID", "none"},
                               {"TORCHELASTIC_RESTART_COUNT", "2"},
                               {"TORCHELASTIC_USE_AGENT_STORE", "True"}};

}  // namespace ddptrain::test
