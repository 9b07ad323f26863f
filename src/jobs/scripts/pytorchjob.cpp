// A PyTorchJob of Kubeflow's training operator 1.7 to 1.9: a pod per node, of which the first is
// the Master. The operator sets MASTER_*, RANK and WORLD_SIZE by pod, and torchrun's PET_*; its
// init container lets workers wait until the master's name resolves.
#include <fmt/format.h>

#include "jobs/scripts/pods.h"
#include "jobs/scripts/scripts.h"

namespace ddptrain {
namespace {

constexpr std::string_view kIntroductionOfPytorchjob =
    R"(# Needs Kubeflow's training operator (1.7 to 1.9) in the cluster. Fill in IMAGE, which has ddptrain
# on its path, and CLAIM, a volume that all pods can write, with the recipe, the data and the runs.
# Then:
#   kubectl apply -f FILE
)";

std::string replicas(const std::string& type, int count, const std::string& spec) {
  return fmt::format(R"(    {}:
      replicas: {}
      restartPolicy: OnFailure     # a pod whose peer was lost ends, starts again and resumes
      template:
        spec:
)",
                     type, count) +
         indented(spec, 10);
}

}  // namespace

std::string pytorchjob(const LaunchPlan& plan) {
  // Pods get the restart policy of their replicas, and the operator warns of another.
  const auto spec = pod_spec(
      {"", "pytorch", command_in_pod(plan, {"--auto-resume"}), {}, resources_of_node(plan)});
  auto text = std::string(kIntroductionOfPytorchjob) +
              fmt::format(R"(apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: {}
spec:
  nprocPerNode: "{}"
  runPolicy: {{backoffLimit: {}, cleanPodPolicy: Running}}     # ten starts of each pod
  pytorchReplicaSpecs:
)",
                          object_name(plan.name), plan.processes_per_pod(), 10 * plan.nodes) +
              replicas("Master", 1, spec);
  if (plan.nodes > 1) text += replicas("Worker", plan.nodes - 1, spec);
  return text;
}

}  // namespace ddptrain
