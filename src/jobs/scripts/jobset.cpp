// A JobSet (jobset.x-k8s.io) rather than a plain Job: it gives pods host names that resolve before
// they are ready, and starts all of them again together.
#include <fmt/format.h>

#include "jobs/scripts/pods.h"
#include "jobs/scripts/scripts.h"
#include "launch/given_nodes.h"

namespace ddptrain {
namespace {

std::string environment_of_node(const LaunchPlan& plan, const std::string& name) {
  if (plan.nodes == 1) return {};  // the one process starts all ranks
  return fmt::format(R"(- {{name: PET_NNODES, value: "{0}"}}
- name: PET_NODE_RANK
  valueFrom:
    fieldRef:
      fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']
- {{name: PET_NPROC_PER_NODE, value: "{1}"}}
- {{name: PET_MASTER_ADDR, value: {2}-node-0-0.{2}}}
- {{name: PET_MASTER_PORT, value: "{3}"}}
)",
                     plan.nodes, plan.ranks_per_node, name, kUsualPort);
}

constexpr std::string_view kIntroductionOfJobset =
    R"(# Needs JobSet (https://jobset.sigs.k8s.io) in the cluster. Fill in IMAGE, which has ddptrain on its
# path, and CLAIM, a volume that all pods can write, with the recipe, the data and the runs. Then:
#   kubectl apply -f FILE
)";

}  // namespace

std::string jobset(const LaunchPlan& plan) {
  const auto name = object_name(plan.name);
  const Pod pod{"Never", "ddptrain", command_in_pod(plan, {"--auto-resume"}),
                environment_of_node(plan, name), resources_of_node(plan)};
  return std::string(kIntroductionOfJobset) +
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
)",
                     name, plan.nodes) +
         indented(pod_spec(pod), 12);
}

}  // namespace ddptrain
