// A TrainJob of Kubeflow Trainer 2 with a TrainingRuntime of its own: the fields by which a
// TrainJob changes a runtime that others wrote are podTemplateOverrides in 2.1 and runtimePatches
// from 2.2 on, and those of a runtime are the same in all. The operator sets PET_* in the container
// `node`.
#include <fmt/format.h>

#include "jobs/scripts/pods.h"
#include "jobs/scripts/scripts.h"

namespace ddptrain {
namespace {

constexpr std::string_view kIntroductionOfTrainjob =
    R"(# Needs Kubeflow Trainer 2 (https://trainer.kubeflow.org) in the cluster. Fill in IMAGE, which has
# ddptrain on its path, and CLAIM, a volume that all pods can write, with the recipe, the data and
# the runs. Then:
#   kubectl apply -f FILE
)";

std::string training_runtime(const LaunchPlan& plan, const std::string& name) {
  const Pod pod{"Never", "node", {}};
  return fmt::format(R"(apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata:
  name: {0}
  labels: {{trainer.kubeflow.org/framework: torch}}
spec:
  mlPolicy:
    numNodes: {1}
    torch: {{}}
  template:
    spec:
      network: {{enableDNSHostnames: true, publishNotReadyAddresses: true}}
      failurePolicy: {{maxRestarts: 10}}     # of all pods together, which resume the run
      replicatedJobs:
      - name: node
        replicas: 1
        template:
          metadata:
            labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            backoffLimit: 0
            template:
              spec:
)",
                     name, plan.nodes) +
         indented(pod_spec(pod), 16);
}

}  // namespace

std::string trainjob(const LaunchPlan& plan) {
  const auto name = object_name(plan.name);
  return std::string(kIntroductionOfTrainjob) + training_runtime(plan, name) +
         fmt::format(R"(---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {0}
spec:
  runtimeRef: {{kind: TrainingRuntime, name: {0}}}
  trainer:
    numNodes: {1}
    numProcPerNode: {2}
    image: IMAGE
    command: {3}
    resourcesPerNode:
)",
                     name, plan.nodes, plan.processes_per_pod(),
                     quoted_list(command_in_pod(plan, {"--auto-resume"}))) +
         indented(resources_of_node(plan), 6);
}

}  // namespace ddptrain
