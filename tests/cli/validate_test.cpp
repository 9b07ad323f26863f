// `validate` of folders and of the standard input.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/cli_output.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using test::cli_output;
using testing::HasSubstr;

const std::string kGood =
    "recipe: 1\nmodel: resnet18\ndata: {type: image_folder, root: x}\nbatch: {global: 64}\n";

/// A file as the standard input while it lives.
class Input {
 public:
  explicit Input(const std::string& file) : before_(::dup(0)) {
    const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    ::dup2(opened, 0);
    ::close(opened);
  }
  ~Input() {
    ::dup2(before_, 0);
    ::close(before_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

 private:
  int before_;
};

class Validate : public testing::Test {
 protected:
  TemporaryFolder folder_;
  test::Inside inside_{folder_.path()};
};

TEST_F(Validate, ChecksEveryRecipeBelowAFolder) {
  folder_.write("all/b.yaml", kGood);
  folder_.write("all/deep/a.yml", "extends: ../b.yaml\nseed: x\n");
  folder_.write("all/compose.yaml", "services: {web: {image: nginx}}\n");
  folder_.write("all/deep/z.yml", "- 1\n");
  folder_.write("all/.git/c.yaml", "recipe: 1\nseed: hidden\n");
  folder_.write("all/runs/001/run.json", "{}");
  folder_.write("all/runs/001/recipe.yaml", "recipe: 1\nseed: of a run\n");
  folder_.write("all/notes.txt", "recipe: 1\nseed: text\n");
  std::filesystem::create_symlink("itself.yaml", folder_ / "all/itself.yaml");
  std::filesystem::create_directory_symlink("circle", folder_ / "all/circle");
  const auto answer = cli_output({"validate", "all"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.out, "all/b.yaml: good\n");
  EXPECT_THAT(answer.err, HasSubstr("all/deep/a.yml:2:7: error[bad-value]: seed: "));
  EXPECT_THAT(answer.err,
              HasSubstr("all: left out, without 'recipe' or 'extends': all/compose.yaml, "
                        "all/deep/z.yml, all/itself.yaml\n"));
  EXPECT_THAT(answer.err, HasSubstr("1 error; nothing was started"));
}

TEST_F(Validate, RefusesAFolderWithoutRecipes) {
  folder_.write("none/compose.yaml", "services: {}\n");
  const auto answer = cli_output({"validate", "none"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.err,
            "error: 'none' holds no recipe, no .yaml file with the key 'recipe' or 'extends': "
            "none/compose.yaml\n");
}

TEST_F(Validate, WritesOneDocumentOrLines) {
  folder_.write("a.yaml", kGood + "seed: x\n");
  folder_.write("b.yaml", kGood + "name: []\n");
  const auto document =
      nlohmann::json::parse(cli_output({"validate", "a.yaml", "b.yaml", "--format", "json"}).out);
  ASSERT_EQ(document.size(), 2u);
  EXPECT_EQ(document[0].at("path"), "seed");
  EXPECT_EQ(cli_output({"validate", "a.yaml", "~seed", "--format", "json"}).out, "[]\n");
  const auto lines =
      split(cli_output({"validate", "a.yaml", "b.yaml", "--format", "jsonl"}).out, '\n');
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(lines[1]).at("path"), "name");
}

TEST_F(Validate, RefusesURLsAndShowsThemWhole) {
  for (const std::string url : {"https://example.org/r.yaml", "s3://bucket/r.yaml",
                                "https://example.org/r.yaml?raw=true"}) {
    const auto answer = cli_output({"validate", url});
    EXPECT_EQ(answer.code, 2);
    EXPECT_THAT(answer.err, HasSubstr("'" + url + "' is a URL, and recipes are files"));
  }
  folder_.write("x.yaml", "extends: https://example.org/r.yaml\n");
  EXPECT_THAT(cli_output({"validate", "x.yaml"}).err,
              HasSubstr("'https://example.org/r.yaml' is a URL"));
  folder_.write("good.yaml", kGood);
  const auto refused = [](const std::string& word) {
    const auto answer = cli_output({"validate", "good.yaml", word});
    EXPECT_EQ(answer.code, 2) << word;
    return answer.err;
  };
  EXPECT_THAT(
      refused("output.dir=s3://bucket/runs"),
      HasSubstr("output.dir: 's3://bucket/runs' is a URL, and files are read and written on "
                "this machine; write to a folder here"));
  EXPECT_THAT(refused("data.root=hdfs://host/images"),
              HasSubstr("data.root: 'hdfs://host/images' begins with none of https://, http://, "
                        "s3:// and gs://; fetch it first"));
  EXPECT_EQ(cli_output({"validate", "good.yaml", "data.root=gs://bucket/images"}).code, 0);
  EXPECT_THAT(refused("output.dir=file:///tmp/runs"),
              HasSubstr("write the path alone, '/tmp/runs'"));
  EXPECT_THAT(refused("model.weights=hf://org/net"),
              HasSubstr("model.weights: 'hf://org/net' is a URL, and weights are read from this "
                        "machine; download the file ('hf download"));
  EXPECT_THAT(refused("model.weights=https://example.org/a.pth"),
              HasSubstr("'https://example.org/a.pth' is a URL"));
}

TEST_F(Validate, CountsDevices) {
  folder_.write("good.yaml", kGood);
  for (const std::string wrong : {"x", "0", "-1"})
    EXPECT_EQ(
        cli_output({"validate", "good.yaml", "--devices", "1," + wrong}).err,
        "error: --devices: '" + wrong + "' is not a number of devices; write for example 1,2,4\n");
}

TEST_F(Validate, ReadsTheStandardInput) {
  folder_.write("base.yaml", kGood);
  const auto good = folder_.write("good", "extends: base.yaml\n");
  const auto wrong = folder_.write("wrong", kGood + "seed: x\n");
  {
    const Input input(good);
    const auto answer = cli_output({"validate", "-"});
    EXPECT_EQ(answer.out, "-: good\n") << "paths begin in the current folder; " << answer.err;
  }
  const Input input(wrong);
  const auto answer = cli_output({"validate", "-", "seed=y"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err, HasSubstr("error[bad-value]: seed: 'y' is not an integer"));
}

// Which cannot be read again for them.
TEST_F(Validate, ShowsLinesOfTheStandardInput) {
  const auto answer_to = [&](const std::string& recipe) {
    const Input input(folder_.write("given", recipe));
    return cli_output({"validate", "-"}).err;
  };
  EXPECT_EQ(
      answer_to(kGood + "seed: x\n"),
      "-:5:7: error[bad-value]: seed: 'x' is not an integer\n    5 | seed: x\n      |       ^\n"
      "1 error; nothing was started\n'ddptrain help error bad-value' says more\n");
  EXPECT_EQ(
      answer_to("recipe: 1\nmodel: {type: resnet18\n"),
      "-:2:8: error[syntax]: '{' is not closed\n    2 | model: {type: resnet18\n      |        ^\n"
      "1 error; nothing was started\n'ddptrain help error syntax' says more\n");
}

}  // namespace
}  // namespace ddptrain
