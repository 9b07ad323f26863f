// What the API of a cluster knows of a manifest: fields, types, words, and which are required. The
// check is what a strict `kubectl apply` makes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ddptrain {

enum class FieldType { object, array, text, integer, boolean, quantity };
enum class Need { optional, required };

struct KubernetesField {
  FieldType type;
  Need need = Need::optional;
  std::set<std::string> words = {};  // allowed ones; none allows all
};

/// By path; "[]" is an element of a list, "*" any key of a map.
using ManifestFields = std::map<std::string, KubernetesField>;

/// Of core/v1's PodSpec those that are printed, below `spec`.
void add_pod_fields(ManifestFields& fields, const std::string& spec);
/// Of core/v1's ResourceRequirements.
void add_resource_fields(ManifestFields& fields, const std::string& resources);

/// What the API would refuse of one document, each with its path.
std::vector<std::string> manifest_problems(const std::string& document,
                                           const ManifestFields& fields);

/// The documents of a manifest.
std::vector<std::string> documents_of(const std::string& manifest);

}  // namespace ddptrain
