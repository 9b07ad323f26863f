// The printed manifests have only fields that the cluster's API knows, of the right types, and all
// that it requires: what a strict `kubectl apply` checks. Kinds, fields and required ones are those
// of the openAPIV3Schema of
// - JobSet v1alpha2: config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml of
//   github.com/kubernetes-sigs/jobset (08dfbdfd, before v0.13);
// - TrainJob and TrainingRuntime v1alpha1: manifests/base/crds/trainer.kubeflow.org_*.yaml of
//   github.com/kubeflow/trainer (8c0f5059, and v2.0.0 to v2.3.0);
// - PyTorchJob v1: manifests/base/crds/kubeflow.org_pytorchjobs.yaml there (v1.7.0 to v1.9.0);
// the words are those of batch/v1 Job and core/v1 Pod.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/scripts/manifest_fields.h"
#include "jobs/scripts/scripts.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Those of a JobSet's spec that are printed.
void add_jobset_fields(ManifestFields& fields, const std::string& spec) {
  using enum FieldType;
  const auto jobs = spec + ".replicatedJobs[]";
  const auto labels = jobs + ".template.metadata.labels";
  fields.merge(ManifestFields{
      {spec, {object}},
      {spec + ".network", {object}},
      {spec + ".network.enableDNSHostnames", {boolean}},
      {spec + ".network.publishNotReadyAddresses", {boolean}},
      {spec + ".failurePolicy", {object}},
      {spec + ".failurePolicy.maxRestarts", {integer}},
      {spec + ".replicatedJobs", {array}},
      {jobs, {object}},
      {jobs + ".name", {text, Need::required}},
      {jobs + ".replicas", {integer}},
      {jobs + ".template", {object, Need::required}},
      {jobs + ".template.metadata", {object}},
      {labels, {object}},
      {labels + ".trainer.kubeflow.org/trainjob-ancestor-step", {text}},
      {jobs + ".template.spec", {object}},
      {jobs + ".template.spec.parallelism", {integer}},
      {jobs + ".template.spec.completions", {integer}},
      {jobs + ".template.spec.completionMode", {text, Need::optional, {"Indexed", "NonIndexed"}}},
      {jobs + ".template.spec.backoffLimit", {integer}},
      {jobs + ".template.spec.template", {object, Need::required}},
  });
  add_pod_fields(fields, jobs + ".template.spec.template.spec");
}

ManifestFields fields_of_kind(const std::string& version, const std::string& kind) {
  using enum FieldType;
  return {{"apiVersion", {text, Need::required, {version}}},
          {"kind", {text, Need::required, {kind}}},
          {"metadata", {object, Need::required}},
          {"metadata.name", {text, Need::required}},
          {"spec", {object, Need::required}}};
}

ManifestFields jobset_fields() {
  auto fields = fields_of_kind("jobset.x-k8s.io/v1alpha2", "JobSet");
  add_jobset_fields(fields, "spec");
  return fields;
}

ManifestFields runtime_fields() {
  using enum FieldType;
  auto fields = fields_of_kind("trainer.kubeflow.org/v1alpha1", "TrainingRuntime");
  fields.merge(ManifestFields{
      {"metadata.labels", {object}},
      {"metadata.labels.trainer.kubeflow.org/framework", {text}},
      {"spec.mlPolicy", {object}},
      {"spec.mlPolicy.numNodes", {integer}},
      {"spec.mlPolicy.torch", {object}},
      {"spec.template", {object, Need::required}},
  });
  add_jobset_fields(fields, "spec.template.spec");
  return fields;
}

ManifestFields trainjob_fields() {
  using enum FieldType;
  auto fields = fields_of_kind("trainer.kubeflow.org/v1alpha1", "TrainJob");
  fields.merge(ManifestFields{
      {"spec.runtimeRef", {object, Need::required}},
      {"spec.runtimeRef.kind", {text, Need::optional, {"TrainingRuntime"}}},
      {"spec.runtimeRef.name", {text, Need::required}},
      {"spec.trainer", {object}},
      {"spec.trainer.numNodes", {integer}},
      {"spec.trainer.numProcPerNode", {integer}},
      {"spec.trainer.image", {text}},
      {"spec.trainer.command", {array}},
      {"spec.trainer.command[]", {text}},
  });
  add_resource_fields(fields, "spec.trainer.resourcesPerNode");
  return fields;
}

ManifestFields pytorchjob_fields() {
  using enum FieldType;
  auto fields = fields_of_kind("kubeflow.org/v1", "PyTorchJob");
  fields.merge(ManifestFields{
      {"spec.nprocPerNode", {text}},
      {"spec.runPolicy", {object}},
      {"spec.runPolicy.backoffLimit", {integer}},
      {"spec.runPolicy.cleanPodPolicy", {text, Need::optional, {"All", "Running", "None"}}},
      {"spec.pytorchReplicaSpecs", {object, Need::required}},
  });
  for (const std::string type : {"Master", "Worker"}) {
    const auto replica = "spec.pytorchReplicaSpecs." + type;
    fields.merge(ManifestFields{
        {replica, {object, type == "Master" ? Need::required : Need::optional}},
        {replica + ".replicas", {integer, Need::required}},
        {replica + ".restartPolicy",
         {text, Need::optional, {"Always", "OnFailure", "Never", "ExitCode"}}},
        {replica + ".template", {object, Need::required}},
    });
    add_pod_fields(fields, replica + ".template.spec");
    fields.at(replica + ".template.spec.containers[].name").words = {"pytorch"};
  }
  return fields;
}

LaunchPlan plan_on(int nodes, bool gpus) {
  LaunchPlan plan;
  plan.name = "resnet";
  plan.nodes = nodes;
  plan.ranks_per_node = 8;
  plan.gpus = gpus;
  plan.cores_per_rank = 8;
  plan.words = {"ddptrain", "run", "recipe.yaml", "train.clip=null", "seed=3"};
  return plan;
}

TEST(KubernetesSchema, KnowsEveryFieldOfThePrintedManifests) {
  for (const int nodes : {1, 2})
    for (const bool gpus : {false, true}) {
      const auto plan = plan_on(nodes, gpus);
      EXPECT_THAT(manifest_problems(jobset(plan), jobset_fields()), IsEmpty());
      EXPECT_THAT(manifest_problems(pytorchjob(plan), pytorchjob_fields()), IsEmpty());
      const auto documents = documents_of(trainjob(plan));
      ASSERT_EQ(documents.size(), 2U);
      EXPECT_THAT(manifest_problems(documents[0], runtime_fields()), IsEmpty());
      EXPECT_THAT(manifest_problems(documents[1], trainjob_fields()), IsEmpty());
    }
}

/// Problems of a document after a change.
std::vector<std::string> changed(std::string document, const ManifestFields& fields,
                                 const std::string& from, const std::string& to) {
  const auto at = document.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return manifest_problems(document.replace(at, from.size(), to), fields);
}

TEST(KubernetesSchema, RefusesWhatTheApiWouldOfAJobset) {
  const std::string job = "spec.replicatedJobs[].template";
  const auto pod = job + ".spec.template.spec";
  const auto problems = [](const std::string& from, const std::string& to) {
    return changed(jobset(plan_on(2, true)), jobset_fields(), from, to);
  };
  EXPECT_THAT(problems("backoffLimit: 0", "backofLimit: 0"),
              ElementsAre(job + ".spec.backofLimit: unknown field"));
  EXPECT_THAT(problems("value: \"2\"", "value: 2"),
              ElementsAre(pod + ".containers[].env[].value: wrong type"));
  EXPECT_THAT(problems("maxRestarts: 10", "maxRestarts: many"),
              ElementsAre("spec.failurePolicy.maxRestarts: wrong type"));
  EXPECT_THAT(problems("cpu: 64", "cpu: all"),
              ElementsAre(pod + ".containers[].resources.requests.cpu: wrong type"));
  EXPECT_THAT(problems("restartPolicy: Never", "restartPolicy: Always"),
              ElementsAre(pod + ".restartPolicy: unknown word"));
  EXPECT_THAT(problems("{claimName: CLAIM}", "{}"),
              ElementsAre(pod + ".volumes[].persistentVolumeClaim.claimName: missing"));
  EXPECT_THAT(problems("metadata:\n  name: resnet\n", ""), ElementsAre("metadata: missing"));
}

TEST(KubernetesSchema, RefusesWhatTheApiWouldOfATrainJob) {
  const auto documents = documents_of(trainjob(plan_on(2, true)));
  const auto of_job = [&](const std::string& from, const std::string& to) {
    return changed(documents.at(1), trainjob_fields(), from, to);
  };
  EXPECT_THAT(of_job("numProcPerNode: 8", "numProcPerNode: auto"),
              ElementsAre("spec.trainer.numProcPerNode: wrong type"));
  EXPECT_THAT(of_job("  runtimeRef: {kind: TrainingRuntime, name: resnet}\n", ""),
              ElementsAre("spec.runtimeRef: missing"));
  EXPECT_THAT(of_job("resourcesPerNode", "resources"),
              ElementsAre("spec.trainer.resources: unknown field"));
  EXPECT_THAT(changed(documents[0], runtime_fields(), "torch: {}", "torch: true"),
              ElementsAre("spec.mlPolicy.torch: wrong type"));
}

TEST(KubernetesSchema, RefusesWhatTheOperatorWouldOfAPytorchJob) {
  const auto problems = [](const std::string& from, const std::string& to) {
    return changed(pytorchjob(plan_on(2, true)), pytorchjob_fields(), from, to);
  };
  const std::string master = "spec.pytorchReplicaSpecs.Master";
  EXPECT_THAT(problems("nprocPerNode: \"8\"", "nprocPerNode: 8"),
              ElementsAre("spec.nprocPerNode: wrong type"));
  EXPECT_THAT(problems("- name: pytorch", "- name: ddptrain"),
              ElementsAre(master + ".template.spec.containers[].name: unknown word"));
  EXPECT_THAT(problems("Worker:", "Workers:"),
              ElementsAre("spec.pytorchReplicaSpecs.Workers: unknown field"));
}

}  // namespace
}  // namespace ddptrain
