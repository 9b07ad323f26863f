#include "jobs/scripts/pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::string_view kVolumes = R"(  volumeMounts:
  - {name: workspace, mountPath: /workspace}
  - {name: shared-memory, mountPath: /dev/shm}
volumes:
- name: workspace
  persistentVolumeClaim: {claimName: CLAIM}
- name: shared-memory
  emptyDir: {medium: Memory}
)";

/// A scalar that YAML reads as this text.
std::string quoted_scalar(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + '"';
}

}  // namespace

std::string object_name(const std::string& name) {
  std::string made;
  for (const unsigned char c : name) {
    if (std::isalnum(c) != 0)
      made += static_cast<char>(std::tolower(c));
    else if (!made.empty() && made.back() != '-')
      made += '-';
  }
  made.resize(std::min<std::size_t>(made.size(), 40));
  while (!made.empty() && made.back() == '-') made.pop_back();
  if (made.empty()) return "run";
  return std::isdigit(static_cast<unsigned char>(made[0])) != 0 ? "run-" + made : made;
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string made = "[";
  for (const auto& word : words) made += (made.size() > 1 ? ", " : "") + quoted_scalar(word);
  return made + "]";
}

std::vector<std::string> command_in_pod(const LaunchPlan& plan,
                                        const std::vector<std::string>& more) {
  auto words = plan.words;
  words[0] = "ddptrain";
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string resources_of_node(const LaunchPlan& plan) {
  auto text = fmt::format("requests: {{cpu: {}}}\n", plan.cores_per_node());
  if (plan.gpus) text += fmt::format("limits: {{nvidia.com/gpu: {}}}\n", plan.ranks_per_node);
  return text;
}

std::string pod_spec(const Pod& pod) {
  std::string text;
  if (!pod.restart_policy.empty()) text = fmt::format("restartPolicy: {}\n", pod.restart_policy);
  text += fmt::format(
      "terminationGracePeriodSeconds: 120     # in which an evicted pod saves\n"
      "containers:\n"
      "- name: {}\n",
      pod.container);
  if (!pod.command.empty()) text += "  image: IMAGE\n";
  text += "  workingDir: /workspace\n";
  if (!pod.command.empty()) text += fmt::format("  command: {}\n", quoted_list(pod.command));
  if (!pod.environment.empty()) text += "  env:\n" + indented(pod.environment, 2);
  if (!pod.resources.empty()) text += "  resources:\n" + indented(pod.resources, 4);
  return text + std::string(kVolumes);
}

std::string indented(const std::string& text, int blanks) {
  std::string made;
  for (const auto& line : split(text, '\n'))
    if (!line.empty()) made += std::string(static_cast<std::size_t>(blanks), ' ') + line + "\n";
  return made;
}

}  // namespace ddptrain
