// The printed JobSet has only fields that the cluster's API knows, of the right types, and all that
// it requires: what a strict `kubectl apply` checks. Kinds, fields and required ones are those of
// the openAPIV3Schema of v1alpha2 in config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml of
// github.com/kubernetes-sigs/jobset (08dfbdfd, before v0.13), the words those of batch/v1 Job and
// core/v1 Pod.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "config/scalar.h"
#include "config/yaml/reader.h"
#include "jobs/scripts/scripts.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

enum class FieldType { object, array, text, integer, boolean, quantity };
enum class Need { optional, required };

struct KubernetesField {
  FieldType type;
  Need need = Need::optional;
  std::set<std::string> words = {};  // allowed ones; none allows all
};

const std::string kJob = "spec.replicatedJobs[].template";
const std::string kPod = kJob + ".spec.template";
const std::string kContainer = kPod + ".spec.containers[]";
const std::string kVolume = kPod + ".spec.volumes[]";

/// By path; "[]" is an element of a list, "*" any key of a map.
const std::map<std::string, KubernetesField>& jobset_fields() {
  using enum FieldType;
  static const std::map<std::string, KubernetesField> all{
      {"apiVersion", {text, Need::required, {"jobset.x-k8s.io/v1alpha2"}}},
      {"kind", {text, Need::required, {"JobSet"}}},
      {"metadata", {object, Need::required}},
      {"metadata.name", {text, Need::required}},
      {"spec", {object, Need::required}},
      {"spec.network", {object}},
      {"spec.network.enableDNSHostnames", {boolean}},
      {"spec.network.publishNotReadyAddresses", {boolean}},
      {"spec.failurePolicy", {object}},
      {"spec.failurePolicy.maxRestarts", {integer}},
      {"spec.replicatedJobs", {array}},
      {"spec.replicatedJobs[]", {object}},
      {"spec.replicatedJobs[].name", {text, Need::required}},
      {"spec.replicatedJobs[].replicas", {integer}},
      {kJob, {object, Need::required}},
      {kJob + ".spec", {object}},
      {kJob + ".spec.parallelism", {integer}},
      {kJob + ".spec.completions", {integer}},
      {kJob + ".spec.completionMode", {text, Need::optional, {"Indexed", "NonIndexed"}}},
      {kJob + ".spec.backoffLimit", {integer}},
      {kPod, {object, Need::required}},
      {kPod + ".spec", {object}},
      {kPod + ".spec.restartPolicy", {text, Need::optional, {"Never", "OnFailure"}}},
      {kPod + ".spec.terminationGracePeriodSeconds", {integer}},
      {kPod + ".spec.containers", {array, Need::required}},
      {kContainer, {object}},
      {kContainer + ".name", {text, Need::required}},
      {kContainer + ".image", {text}},
      {kContainer + ".workingDir", {text}},
      {kContainer + ".command", {array}},
      {kContainer + ".command[]", {text}},
      {kContainer + ".env", {array}},
      {kContainer + ".env[]", {object}},
      {kContainer + ".env[].name", {text, Need::required}},
      {kContainer + ".env[].value", {text}},
      {kContainer + ".env[].valueFrom", {object}},
      {kContainer + ".env[].valueFrom.fieldRef", {object}},
      {kContainer + ".env[].valueFrom.fieldRef.fieldPath", {text, Need::required}},
      {kContainer + ".resources", {object}},
      {kContainer + ".resources.requests", {object}},
      {kContainer + ".resources.requests.*", {quantity}},
      {kContainer + ".resources.limits", {object}},
      {kContainer + ".resources.limits.*", {quantity}},
      {kContainer + ".volumeMounts", {array}},
      {kContainer + ".volumeMounts[]", {object}},
      {kContainer + ".volumeMounts[].name", {text, Need::required}},
      {kContainer + ".volumeMounts[].mountPath", {text, Need::required}},
      {kPod + ".spec.volumes", {array}},
      {kVolume, {object}},
      {kVolume + ".name", {text, Need::required}},
      {kVolume + ".persistentVolumeClaim", {object}},
      {kVolume + ".persistentVolumeClaim.claimName", {text, Need::required}},
      {kVolume + ".emptyDir", {object}},
      {kVolume + ".emptyDir.medium", {text, Need::optional, {"", "Memory"}}},
  };
  return all;
}

/// The API's pattern of amounts: 64, "1.5", 16Gi.
bool is_quantity(const Node& node) {
  static const std::regex pattern(
      "[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?");
  return node.is_scalar() && std::regex_match(node.text, pattern);
}

bool is_of(const Node& node, FieldType type) {
  std::string why;
  switch (type) {
    case FieldType::object:
      return node.is_map();
    case FieldType::array:
      return node.is_list();
    case FieldType::text:
      return node.is_scalar() && scalar_kind(node) == ScalarKind::text;
    case FieldType::integer:
      return node.is_scalar() && read_integer(node, why).has_value();
    case FieldType::boolean:
      return node.is_scalar() && read_boolean(node, why).has_value();
    case FieldType::quantity:
      return is_quantity(node);
  }
  return false;
}

/// What the API would refuse, each with its path.
class JobsetCheck {
 public:
  std::vector<std::string> problems(const std::string& manifest) {
    const auto read = read_yaml(manifest, "manifest");
    EXPECT_TRUE(read.problems.empty());
    check_members(read.tree, "");
    return std::move(problems_);
  }

 private:
  void check(const Node& node, const std::string& path, const KubernetesField& field) {
    if (!is_of(node, field.type)) return problems_.push_back(path + ": wrong type");
    if (!field.words.empty() && !field.words.contains(node.text))
      problems_.push_back(path + ": unknown word");
    for (const auto& item : node.items) check(item, path + "[]", jobset_fields().at(path + "[]"));
    if (node.is_map()) check_members(node, path + ".");
  }

  void check_members(const Node& map, const std::string& before) {
    for (const auto& [key, place, value] : map.members) {
      auto row = jobset_fields().find(before + key);
      if (row == jobset_fields().end()) row = jobset_fields().find(before + "*");
      if (row == jobset_fields().end())
        problems_.push_back(before + key + ": unknown field");
      else
        check(value, before + key, row->second);
    }
    for (const auto& [path, field] : jobset_fields()) {
      if (field.need != Need::required || !path.starts_with(before)) continue;
      const auto key = path.substr(before.size());
      if (key.find_first_of(".[") == std::string::npos && !map.find(key))
        problems_.push_back(path + ": missing");
    }
  }

  std::vector<std::string> problems_;
};

std::string manifest_of(int nodes, bool gpus) {
  LaunchPlan plan;
  plan.name = "resnet";
  plan.nodes = nodes;
  plan.ranks_per_node = 8;
  plan.gpus = gpus;
  plan.cores_per_rank = 8;
  plan.words = {"ddptrain", "run", "recipe.yaml", "train.clip=null", "seed=3"};
  return kubernetes_jobset(plan);
}

TEST(KubernetesSchema, KnowsEveryFieldOfThePrintedManifest) {
  for (const int nodes : {1, 2})
    for (const bool gpus : {false, true})
      EXPECT_THAT(JobsetCheck().problems(manifest_of(nodes, gpus)), IsEmpty()) << nodes << gpus;
}

TEST(KubernetesSchema, RefusesWhatTheApiWould) {
  const auto changed = [](const std::string& from, const std::string& to) {
    auto text = manifest_of(2, true);
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return JobsetCheck().problems(text.replace(at, from.size(), to));
  };
  EXPECT_THAT(changed("backoffLimit: 0", "backofLimit: 0"),
              ElementsAre(kJob + ".spec.backofLimit: unknown field"));
  EXPECT_THAT(changed("value: \"2\"", "value: 2"),
              ElementsAre(kContainer + ".env[].value: wrong type"));
  EXPECT_THAT(changed("maxRestarts: 10", "maxRestarts: many"),
              ElementsAre("spec.failurePolicy.maxRestarts: wrong type"));
  EXPECT_THAT(changed("cpu: 64", "cpu: all"),
              ElementsAre(kContainer + ".resources.requests.cpu: wrong type"));
  EXPECT_THAT(changed("restartPolicy: Never", "restartPolicy: Always"),
              ElementsAre(kPod + ".spec.restartPolicy: unknown word"));
  EXPECT_THAT(changed("{claimName: CLAIM}", "{}"),
              ElementsAre(kVolume + ".persistentVolumeClaim.claimName: missing"));
  EXPECT_THAT(changed("metadata:\n  name: resnet\n", ""), ElementsAre("metadata: missing"));
}

}  // namespace
}  // namespace ddptrain
