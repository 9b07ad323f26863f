// A JobSet (jobset.x-k8s.io) rather than a plain Job: it gives pods host names that resolve before
// they are ready, and starts all of them again together.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "jobs/scripts/scripts.h"
#include "launch/given_nodes.h"

namespace ddptrain {
namespace {

/// Of lower-case letters, digits and dashes, a letter first (RFC 1035), short enough for the host
/// names of pods.
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

/// A scalar that YAML and a shell read alike.
std::string quoted_scalar(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + '"';
}

std::string list_of(const std::vector<std::string>& words) {
  std::string made = "[";
  for (const auto& word : words) made += (made.size() > 1 ? ", " : "") + quoted_scalar(word);
  return made + "]";
}

/// In the image the program is on the path.
std::vector<std::string> command_in_pod(const LaunchPlan& plan) {
  auto words = plan.words;
  words[0] = "ddptrain";
  words.push_back("--auto-resume");
  return words;
}

std::string environment_of_pod(const LaunchPlan& plan, const std::string& name) {
  if (plan.nodes == 1) return {};  // the one process starts all ranks
  const auto port = plan.meeting ? plan.meeting->port.value_or(kUsualPort) : kUsualPort;
  return fmt::format(R"(              env:
              - {{name: PET_NNODES, value: "{0}"}}
              - name: PET_NODE_RANK
                valueFrom:
                  fieldRef:
                    fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']
              - {{name: PET_NPROC_PER_NODE, value: "{1}"}}
              - {{name: PET_MASTER_ADDR, value: {2}-node-0-0.{2}}}
              - {{name: PET_MASTER_PORT, value: "{3}"}}
)",
                     plan.nodes, plan.ranks_per_node, name, port);
}

std::string resources_of_pod(const LaunchPlan& plan) {
  const auto gpus = plan.gpus ? fmt::format("                limits: {{nvidia.com/gpu: {}}}\n",
                                            plan.ranks_per_node)
                              : "";
  return fmt::format("              resources:\n                requests: {{cpu: {}}}\n",
                     plan.cores_per_node()) +
         gpus;
}

constexpr std::string_view kIntroduction =
    R"(# Needs JobSet (https://jobset.sigs.k8s.io) in the cluster. Fill in IMAGE, which has ddptrain on its
# path, and CLAIM, a volume that all pods can write, with the recipe, the data and the runs. Then:
#   kubectl apply -f FILE
)";

constexpr std::string_view kVolumes = R"(              volumeMounts:
              - {name: workspace, mountPath: /workspace}
              - {name: shared-memory, mountPath: /dev/shm}
            volumes:
            - name: workspace
              persistentVolumeClaim: {claimName: CLAIM}
            - name: shared-memory
              emptyDir: {medium: Memory}
)";

}  // namespace

std::string kubernetes_jobset(const LaunchPlan& plan) {
  const auto name = object_name(plan.name);
  return std::string(kIntroduction) +
         fmt::format(R"(apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: {0}
spec:
  network: {{enableDNSHostnames: true, publishNotReadyAddresses: true}}
  failurePolicy: {{maxRestarts: 10}}     # of all pods together, which resume the run
  replicatedJobs:
  - name: node
    replicas: 1
    template:
      spec:
        parallelism: {1}
        completions: {1}
        completionMode: Indexed
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            terminationGracePeriodSeconds: 120     # in which an evicted pod saves
            containers:
            - name: ddptrain
              image: IMAGE
              workingDir: /workspace
              command: {2}
)",
                     name, plan.nodes, list_of(command_in_pod(plan))) +
         environment_of_pod(plan, name) + resources_of_pod(plan) + std::string(kVolumes);
}

}  // namespace ddptrain
