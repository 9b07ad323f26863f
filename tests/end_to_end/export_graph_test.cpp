// `export` of graphs, and the programs of docs/deploying.md that use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/quoting.h"
#include "program.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The block of a language below a heading of docs/deploying.md.
std::string block_below(const std::string& heading) {
  const auto text = read(test::in_source("docs/deploying.md"));
  const auto begin = text.find('\n', text.find("```", text.find("## " + heading))) + 1;
  return text.substr(begin, text.find("```", begin) - begin);
}

std::string shapes_image() { return shapes() + "/val/circle/0000.jpg"; }

class ExportGraph : public testing::Test {
 protected:
  void SetUp() override {
    write(folder_ / "small.yaml", small_recipe());
    const auto trained = run({"run", "small.yaml"}, folder_.path(), environment());
    ASSERT_EQ(trained.code, 0) << trained.err;
  }

  Ended exported(std::vector<std::string> words) {
    words.insert(words.begin(), {"export", "runs/small/001"});
    return run(words, folder_.path(), environment());
  }

  const Folder folder_;
};

TEST_F(ExportGraph, IsComparedWithTheModelAndWrittenWhole) {
  for (const auto* file : {"m.pt", "m.onnx"}) {
    const auto ended = exported({file});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("largest difference to the model on 41 samples: 0"));
    EXPECT_GT(fs::file_size(folder_ / file), 1000u);
  }
  EXPECT_EQ(exported({"four.onnx", "--batch", "4", "--with-preprocessing"}).code, 0);
  EXPECT_EQ(exported({"half.onnx", "--precision", "fp16"}).code, 0);

  const auto typo = exported({"m.onx"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_THAT(typo.err, HasSubstr(".safetensors"));
  EXPECT_THAT(exported({"m.safetensors", "--batch", "4"}).err, HasSubstr("--batch is of a graph"));
  EXPECT_EQ(exported({"m.pt", "--batch", "none"}).code, 2);
  const auto nowhere = exported({"no/m.onnx"});
  EXPECT_EQ(nowhere.code, 3);
  EXPECT_FALSE(fs::exists(folder_ / "no"));
}

TEST_F(ExportGraph, ServesTheProgramsOfTheDocument) {
  const char* peers = std::getenv("DDPTRAIN_PEERS");
  if (!peers) GTEST_SKIP() << "DDPTRAIN_PEERS names no Python environment with onnxruntime";
  const auto predicted =
      run({"predict", "runs/small/001", shapes_image(), "--format", "jsonl", "--top", "1"},
          folder_.path(), environment());
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const std::pair<const char*, const char*> kPrograms[] = {{"Python, ONNX Runtime", "p.onnx"},
                                                           {"Python, torch", "p.pt"}};
  for (const auto& [heading, file] : kPrograms) {
    ASSERT_EQ(exported({file, "--with-preprocessing"}).code, 0);
    write(folder_ / "consumer.py", block_below(heading));
    const auto ended = Program({"consumer.py", file, shapes_image()}, folder_.path(), {},
                               std::string(peers) + "/bin/python")
                           .wait();
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto name = ended.out.substr(0, ended.out.find('\n'));
    EXPECT_THAT(predicted.out, HasSubstr("\"" + name + "\"")) << heading;
  }
}

TEST_F(ExportGraph, ServesTheProgramInCpp) {
  const char* peers = std::getenv("DDPTRAIN_PEERS");
  if (!peers) GTEST_SKIP() << "DDPTRAIN_PEERS names no Python environment with torch";
  ASSERT_EQ(exported({"m.pt"}).code, 0);
  write(folder_ / "consumer.cpp", block_below("C++, LibTorch"));
  const auto command =
      "torch=$(" + shell_word(std::string(peers) + "/bin/python") +
      " -c 'import torch, os; print(os.path.dirname(torch.__file__))') && c++ -std=c++20 "
      "-I$torch/include -I$torch/include/torch/csrc/api/include consumer.cpp -o consumer "
      "-L$torch/lib "
      "-ltorch -ltorch_cpu -lc10 -Wl,-rpath,$torch/lib && ./consumer m.pt 32";
  const auto ended = Program({"-c", command}, folder_.path(), {}, "/bin/bash").wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("[1, 10]"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
