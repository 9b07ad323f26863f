// Runs every golden case through the handler of its kind; a case that no handler reads is a failure
// unless not_yet.txt lists it.
#include "support/golden.h"
#include "support/where.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace ddptrain::golden {
namespace {

std::map<std::string, Handler>& handlers() {
  static std::map<std::string, Handler> all;
  return all;
}

struct NotYet {
  std::string file, kind, key;
  std::vector<std::string> values;
};

std::vector<NotYet> read_not_yet() {
  std::vector<NotYet> list;
  std::ifstream in(test::in_source("tests/golden/not_yet.txt"));
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    NotYet entry;
    if (!(words >> entry.file >> entry.kind) || entry.file[0] == '#') continue;
    std::string rest;
    std::getline(words >> std::ws, rest);
    const auto equals = rest.find('=');
    if (equals != std::string::npos) {
      entry.key = rest.substr(0, equals);
      std::istringstream values(rest.substr(equals + 1));
      for (std::string value; std::getline(values, value, '|');) entry.values.push_back(value);
    }
    list.push_back(entry);
  }
  return list;
}

bool is_not_yet(const Case& c) {
  static const auto list = read_not_yet();
  const std::string kind = c.input.at("kind");
  for (const auto& entry : list) {
    if (entry.file != c.file || (entry.kind != "*" && entry.kind != kind)) continue;
    if (entry.key.empty()) return true;
    if (!c.input.contains(entry.key)) continue;
    const auto& given = c.input.at(entry.key);
    const std::string text = given.is_string() ? given.get<std::string>() : given.dump();
    for (const auto& value : entry.values)
      if (value == text) return true;
  }
  return false;
}

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::ifstream in(path);
    const auto content = nlohmann::json::parse(in);
    for (const auto& c : content.at("cases"))
      cases.push_back({path.stem().string(), c.at("name"), c.at("input"), c.at("expect")});
  }
  return cases;
}

class GoldenTest : public testing::Test {
 public:
  explicit GoldenTest(Case c) : case_(std::move(c)) {}
  void TestBody() override {
    if (is_not_yet(case_)) GTEST_SKIP() << "listed in not_yet.txt";
    const std::string kind = case_.input.at("kind");
    const auto found = handlers().find(case_.file + "/" + kind);
    ASSERT_NE(found, handlers().end()) << "no test reads " << case_.file << " of kind " << kind;
    found->second(case_);
  }

 private:
  Case case_;
};

}  // namespace

Registration::Registration(const std::string& file, const std::string& kind, Handler handler) {
  handlers()[file + "/" + kind] = std::move(handler);
}

std::string folder() {
  const char* named = std::getenv("DDPTRAIN_GOLDEN");
  return named ? named : test::in_source("tests/golden");
}

double number(const nlohmann::json& value) {
  return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr)
                           : value.get<double>();
}

std::vector<double> numbers(const nlohmann::json& values) {
  if (!values.is_array()) return {number(values)};
  std::vector<double> flat;
  for (const auto& value : values) {
    const auto part = numbers(value);
    flat.insert(flat.end(), part.begin(), part.end());
  }
  return flat;
}

double formula(std::uint64_t i, std::uint64_t k) {
  auto h = static_cast<std::uint32_t>(i * 2654435761ULL + k * 40503ULL + 12345ULL);
  h ^= h >> 16;
  h *= 0x85ebca6bU;
  h ^= h >> 13;
  h *= 0xc2b2ae35U;
  h ^= h >> 16;
  return static_cast<double>(h) / 2147483648.0 - 1.0;
}

FormulaWeights formula_weights(const std::string& name, std::size_t dims, std::int64_t fan,
                               std::uint64_t k) {
  if (name.ends_with("running_var")) return {1, 0.1, k};
  if (name.ends_with("running_mean")) return {0, 0.02, k};
  if (dims >= 2 && fan > 1) return {0, std::sqrt(3.0 / static_cast<double>(fan)), k};
  if (name.ends_with("weight") || name.find("layer_scale") != std::string::npos) return {1, 0.1, k};
  return {0, 0.05, k};
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected,
                  double relative, double absolute, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(actual[i])) continue;
    if (actual[i] == expected[i]) continue;  // infinities too
    ASSERT_LE(std::abs(actual[i] - expected[i]), absolute + relative * std::abs(expected[i]))
        << what << ", element " << i << ": " << actual[i] << " against " << expected[i];
  }
}

}  // namespace ddptrain::golden

int main(int argc, char** argv) {
  using ddptrain::golden::GoldenTest;
  testing::InitGoogleTest(&argc, argv);
  for (auto& c : ddptrain::golden::read_cases()) {
    const auto suite = "Golden_" + c.file;
    const auto name = c.name;
    testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [c] { return new GoldenTest(c); });
  }
  return RUN_ALL_TESTS();
}
