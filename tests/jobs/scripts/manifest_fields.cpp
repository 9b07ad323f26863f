#include "jobs/scripts/manifest_fields.h"

#include <gtest/gtest.h>

#include <regex>

#include "config/scalar.h"
#include "config/yaml/reader.h"

namespace ddptrain {
namespace {

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

class ManifestCheck {
 public:
  explicit ManifestCheck(const ManifestFields& fields) : fields_(fields) {}

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
    for (const auto& item : node.items) check(item, path + "[]", fields_.at(path + "[]"));
    if (node.is_map()) check_members(node, path + ".");
  }

  void check_members(const Node& map, const std::string& before) {
    for (const auto& [key, place, value] : map.members) {
      auto row = fields_.find(before + key);
      if (row == fields_.end()) row = fields_.find(before + "*");
      if (row == fields_.end())
        problems_.push_back(before + key + ": unknown field");
      else
        check(value, before + key, row->second);
    }
    for (const auto& [path, field] : fields_) {
      if (field.need != Need::required || !path.starts_with(before)) continue;
      const auto key = path.substr(before.size());
      if (key.find_first_of(".[") == std::string::npos && !map.find(key))
        problems_.push_back(path + ": missing");
    }
  }

  const ManifestFields& fields_;
  std::vector<std::string> problems_;
};

}  // namespace

void add_resource_fields(ManifestFields& fields, const std::string& resources) {
  using enum FieldType;
  fields.merge(ManifestFields{
      {resources, {object}},
      {resources + ".requests", {object}},
      {resources + ".requests.*", {quantity}},
      {resources + ".limits", {object}},
      {resources + ".limits.*", {quantity}},
  });
}

void add_pod_fields(ManifestFields& fields, const std::string& spec) {
  using enum FieldType;
  const auto container = spec + ".containers[]", volume = spec + ".volumes[]";
  fields.merge(ManifestFields{
      {spec, {object}},
      {spec + ".restartPolicy", {text, Need::optional, {"Never", "OnFailure"}}},
      {spec + ".terminationGracePeriodSeconds", {integer}},
      {spec + ".containers", {array, Need::required}},
      {container, {object}},
      {container + ".name", {text, Need::required}},
      {container + ".image", {text}},
      {container + ".workingDir", {text}},
      {container + ".command", {array}},
      {container + ".command[]", {text}},
      {container + ".env", {array}},
      {container + ".env[]", {object}},
      {container + ".env[].name", {text, Need::required}},
      {container + ".env[].value", {text}},
      {container + ".env[].valueFrom", {object}},
      {container + ".env[].valueFrom.fieldRef", {object}},
      {container + ".env[].valueFrom.fieldRef.fieldPath", {text, Need::required}},
      {container + ".volumeMounts", {array}},
      {container + ".volumeMounts[]", {object}},
      {container + ".volumeMounts[].name", {text, Need::required}},
      {container + ".volumeMounts[].mountPath", {text, Need::required}},
      {spec + ".volumes", {array}},
      {volume, {object}},
      {volume + ".name", {text, Need::required}},
      {volume + ".persistentVolumeClaim", {object}},
      {volume + ".persistentVolumeClaim.claimName", {text, Need::required}},
      {volume + ".emptyDir", {object}},
      {volume + ".emptyDir.medium", {text, Need::optional, {"", "Memory"}}},
  });
  add_resource_fields(fields, container + ".resources");
}

std::vector<std::string> manifest_problems(const std::string& document,
                                           const ManifestFields& fields) {
  return ManifestCheck(fields).problems(document);
}

std::vector<std::string> documents_of(const std::string& manifest) {
  const std::string mark = "\n---\n";
  std::vector<std::string> documents;
  std::size_t begin = 0;
  for (auto at = manifest.find(mark); at != std::string::npos; at = manifest.find(mark, begin)) {
    documents.push_back(manifest.substr(begin, at + 1 - begin));
    begin = at + mark.size();
  }
  documents.push_back(manifest.substr(begin));
  return documents;
}

}  // namespace ddptrain
