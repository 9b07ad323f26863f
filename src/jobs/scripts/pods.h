// What the manifests of Kubernetes have in common: names, and the specification of a pod.
#pragma once

#include <string>
#include <vector>

#include "jobs/scripts/launch_plan.h"

namespace ddptrain {

/// Of lower-case letters, digits and dashes, a letter first (RFC 1035), short enough for the host
/// names of pods.
std::string object_name(const std::string& name);

/// ["a", "b"].
std::string quoted_list(const std::vector<std::string>& words);

/// Of the plan's words: in the image the program is on the path.
std::vector<std::string> command_in_pod(const LaunchPlan& plan,
                                        const std::vector<std::string>& more);

/// `requests` and `limits` of a pod that has the ranks of a node.
std::string resources_of_node(const LaunchPlan& plan);

/// A PodSpec with one container, which has a shared volume at /workspace and memory at /dev/shm.
struct Pod {
  std::string restart_policy;        // empty: what is around the pod decides
  std::string container;             // its name
  std::vector<std::string> command;  // none: the image and the command are given elsewhere
  std::string environment = {};      // lines of `env`
  std::string resources = {};        // lines of `resources`
};
std::string pod_spec(const Pod& pod);

/// Each line further to the right by as many blanks.
std::string indented(const std::string& text, int blanks);

}  // namespace ddptrain
