// Published weights as recipes and the verb `weights` use them.
#include "jobs/published.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "cli/cli_output.h"
#include "models/model.h"
#include "recipe/load/load.h"
#include "recipe/model_section.h"
#include "sources/https_server.h"
#include "support/node.h"
#include "support/temporary_folder.h"
#include "train/catalogs.h"
#include "weights/folder.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(PublishedWeights, AreOfModelsOfTheCatalog) {
  for (const auto& weights : published_weights())
    EXPECT_NE(catalog<Model>().find(std::string(weights.model)), nullptr) << weights.model;
}

class WeightsFolder : public testing::Test {
 protected:
  WeightsFolder() { ::setenv("DDPTRAIN_WEIGHTS", (folder_ / "weights").c_str(), 1); }
  ~WeightsFolder() override { ::unsetenv("DDPTRAIN_WEIGHTS"); }

  std::string settled(const json& recipe) const {
    auto model = fragment<Model>(recipe);
    settle_weights(model, Fetching::never);
    return decode<ModelSection>(model.node()).weights->file;
  }
  std::string problem(const json& recipe) const {
    try {
      return settled(recipe);
    } catch (const Error& error) {
      return error.what();
    }
  }

  TemporaryFolder folder_;
};

TEST_F(WeightsFolder, ThatCannotBeFetchedSayWhereToPutTheFile) {
  const auto curl = folder_.write("bin/curl", "#!/bin/sh\nexit 6\n");
  std::filesystem::permissions(curl, std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder_ / "bin" + ":" + path).c_str(), 1);
  std::string message;
  try {
    provide_weights(*find_weights("resnet34", "imagenet"), "");
  } catch (const Error& error) {
    message = error.what();
  }
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(message,
            "cannot fetch 'https://download.pytorch.org/models/resnet34-b627a593.pth': the host's "
            "name is not known; fetch it where there is a network and put it to '" +
                folder_ / "weights/resnet34-b627a593.pth" + "'");
}

// A file in its place is in the way of root, too.
TEST_F(WeightsFolder, ThatCannotBeWrittenIsNotWhereAFileShouldBePut) {
  folder_.write("weights", "no folder");
  std::string message;
  try {
    provide_weights(*find_weights("resnet34", "imagenet"), "");
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_EQ(message, "weights cannot be written to '" + folder_ / "weights" +
                         "'; set DDPTRAIN_WEIGHTS to a folder that you may write to");
}

TEST_F(WeightsFolder, AreFoundByTheNameOfTheModelOrItsBody) {
  const auto file = folder_.write("weights/resnet34-b627a593.pth", "bytes");
  const auto digest = sha256("bytes");
  const json imagenet{{"file", "imagenet"}, {"sha256", digest}};
  EXPECT_EQ(settled({{"type", "resnet34"}, {"weights", imagenet}}), file);
  EXPECT_EQ(settled({{"type", "vision_learner"}, {"body", "resnet34"}, {"weights", imagenet}}),
            file);
  EXPECT_EQ(
      settled(
          {{"type", "resnet34"},
           {"weights",
            {{"file", "imagenet1k_v1"}, {"fetch", true}, {"strict", false}, {"sha256", digest}}}}),
      file);
}

// What lies there under the name is used only if it is what was published.
TEST_F(WeightsFolder, OfAnotherDigestAreNotUsed) {
  const auto file = folder_.write("weights/resnet34-b627a593.pth", "bytes");
  EXPECT_EQ(problem({{"type", "resnet34"}, {"weights", "imagenet"}}),
            "model.weights: sha256 of '" + file + "' is " + sha256("bytes") +
                ", and that of resnet34 imagenet1k_v1 (torchvision) begins with b627a593; remove "
                "the file, and 'ddptrain weights get resnet34 imagenet1k_v1' fetches it; or write "
                "the digest that you trust as model.weights.sha256");
  EXPECT_EQ(settled({{"type", "resnet34"}, {"weights", file}}), file) << "a path names no weights";
}

// The address of a row on this machine instead of the publisher's.
TEST_F(WeightsFolder, AreFetchedFromTheirAddress) {
  std::filesystem::create_directories(folder_ / "keys");
  folder_.write("site/resnet34-" + sha256("published").substr(0, 8) + ".pth", "published");
  const HttpsServer server(folder_ / "site", folder_ / "keys");
  const auto digest = sha256("published");
  auto weights = *find_weights("resnet34", "imagenet");
  weights.url = server.url("resnet34-" + digest.substr(0, 8) + ".pth");
  const auto begins = [&](std::string_view digits) {
    weights.sha256 = digits;
    try {
      return std::string(provide_weights(weights, "") ? "fetched" : "there");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(begins("b627a593"), HasSubstr(digest + ", and should begin with b627a593"));
  EXPECT_FALSE(std::filesystem::exists(weights_path(weights)));
  EXPECT_EQ(begins(std::string_view(digest).substr(0, 8)), "fetched");
  EXPECT_EQ(read_text(weights_path(weights)), "published");
  EXPECT_EQ(begins(std::string_view(digest).substr(0, 8)), "there");
}

TEST_F(WeightsFolder, AFileOfThatNameComesFirst) {
  const auto own = folder_.write("imagenet", "own");
  EXPECT_EQ(settled({{"type", "resnet34"}, {"weights", own}}), own);
}

TEST_F(WeightsFolder, SayWhatWouldFetchThem) {
  EXPECT_EQ(problem({{"type", "resnet34"}, {"weights", "imagenet"}}),
            "model.weights: resnet34 imagenet1k_v1 (torchvision) is 'resnet34-b627a593.pth', which "
            "is not in '" +
                (folder_ / "weights") +
                "'; 'ddptrain weights get resnet34 imagenet1k_v1' fetches it (83.3 MiB), and so "
                "does a run with 'fetch: true' next to the name");
}

TEST_F(WeightsFolder, AreComparedWithTheRecipesDigest) {
  const auto file = folder_.write("weights/resnet34-b627a593.pth", "bytes");
  const auto with = [&](const std::string& digest) {
    return problem({{"type", "resnet34"}, {"weights", {{"file", "imagenet"}, {"sha256", digest}}}});
  };
  EXPECT_EQ(with(sha256("bytes")), file);
  EXPECT_EQ(with(sha256("others")), "model.weights.sha256: sha256 of '" + file + "' is " +
                                        sha256("bytes") + ", and the recipe says " +
                                        sha256("others"));
}

std::string rules_of(const std::string& model, const TemporaryFolder& folder = {}) {
  const auto file = folder.write(
      "r.yaml", "recipe: 1\nmodel: " + model +
                    "\ndata: {type: image_folder, root: x, valid: val}\nbatch: {global: 2}\n");
  const auto loaded = load_recipe({file}, {}, all_catalogs());
  return render(loaded.problems);
}

TEST(WeightsRule, KnowsNamesOfTheModel) {
  EXPECT_THAT(rules_of("{type: resnet18, weights: imagenet}"), testing::Not(HasSubstr("error")));
  EXPECT_THAT(rules_of("{type: resnet18, weights: imagnet}"),
              HasSubstr("'imagnet' is neither a .safetensors or .pth file nor the folder of a run "
                        "such as runs/NAME/latest, and 'resnet18' has no weights 'imagnet'; did "
                        "you mean 'imagenet'?"));
  EXPECT_THAT(rules_of("{type: xresnet18, weights: imagenet}"),
              HasSubstr("'imagenet' is neither a .safetensors or .pth file nor the folder of a run "
                        "such as runs/NAME/latest, and no published weights of 'xresnet18' have a "
                        "name here; see 'ddptrain weights list'\n"));
  EXPECT_THAT(
      rules_of("{type: awd_lstm, weights: wikitext103_fwd}"),
      HasSubstr(
          "model.weights: awd_lstm wikitext103_fwd (fastai) is an archive; unpack it and write the "
          "two files in it: {file: wt103-fwd/lstm_fwd.pth, words: wt103-fwd/itos_wt103.pkl}\n"));
  EXPECT_THAT(rules_of("{type: resnet18, weights: {file: a.pth, fetch: true}}"),
              HasSubstr("error[weights-fetch]: model.weights.fetch: only published weights are "
                        "fetched, by their names; this is a file or folder\n"));
  EXPECT_THAT(
      rules_of("{type: resnet18, weights: {file: a.pth, sha256: f37072fd}}"),
      HasSubstr(
          "error[weights-digest]: model.weights.sha256: a sha256 has 64 digits of 0-9 and a-f\n"));
}

TEST(WeightsRule, LeavesAFolderNextToTheRecipeAlone) {
  TemporaryFolder folder;
  folder.write("vit_small/model.safetensors", "");
  EXPECT_EQ(rules_of("{type: vit_s_16, weights: vit_small}", folder).find("error"),
            std::string::npos);
}

TEST_F(WeightsFolder, AreListedWithWhatIsKnown) {
  const auto file = folder_.write("weights/resnet34-b627a593.pth", "bytes");
  const auto listed = test::cli_output({"weights", "list", "resnet34", "--format", "json"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  const auto rows = json::parse(listed.out);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].at("name"), "imagenet1k_v1");
  EXPECT_EQ(rows[0].at("sha256"), "b627a593");
  EXPECT_EQ(rows[0].at("top1"), 73.314);
  EXPECT_EQ(rows[0].at("license_of"), "code") << "torchvision states none of the weights";
  EXPECT_EQ(rows[1].at("license_of"), "weights");
  EXPECT_EQ(rows[1].at("license_source"), "https://huggingface.co/timm/resnet34.a1_in1k");
  EXPECT_EQ(rows[0].at("preprocessing").at("crop"), 224);
  EXPECT_EQ(rows[0].at("path"), file);
  EXPECT_TRUE(rows[1].at("path").is_null());
  EXPECT_THAT(test::cli_output({"weights", "list"}).out,
              testing::ContainsRegex(
                  "\nresnet50 +imagenet1k_v2, imagenet +80\\.858 +97\\.8 MiB +torchvision "));
  EXPECT_EQ(test::cli_output({"weights", "list", "resnet35"}).err,
            "error: no weights of 'resnet35' are known; did you mean 'resnet34'?\n");
}

TEST_F(WeightsFolder, AreTakenFromAFileWithItsDigestAndCheckedAgain) {
  const auto file = folder_.write("mine.tgz", "an archive");
  const auto get = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"weights", "get", "awd_lstm", "--file", file};
    words.insert(words.end(), more.begin(), more.end());
    return test::cli_output(words);
  };
  const auto unsaid = get({});
  EXPECT_EQ(unsaid.code, 2);
  EXPECT_THAT(unsaid.err, HasSubstr("no digest of awd_lstm wikitext103_fwd (fastai) is published"));
  EXPECT_EQ(get({"--sha256", "12"}).err,
            "error: --sha256: '12' has not 64 digits of 0-9 and a-f\n");
  const auto wrong = get({"--sha256", sha256("another")});
  EXPECT_EQ(wrong.code, 3);
  EXPECT_THAT(wrong.err, HasSubstr(", and should be " + sha256("another")));
  EXPECT_EQ(get({"--sha256", sha256("an archive")}).code, 0);
  EXPECT_EQ(get({"--sha256", sha256("an archive")}).err,
            "awd_lstm wikitext103_fwd (fastai) is already in " +
                (folder_ / "weights/wt103-fwd.tgz") + "\n");
  const auto good = test::cli_output({"weights", "check"});
  EXPECT_EQ(good.code, 0) << good.out;
  EXPECT_THAT(good.out, HasSubstr("wt103-fwd.tgz: good\n1 file in "));
  folder_.write("weights/wt103-fwd.tgz", "rotten");
  const auto bad = test::cli_output({"weights", "check"});
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.out, HasSubstr("and was " + sha256("an archive") + " when it came"));
}

TEST_F(WeightsFolder, OfAnotherDigestAreNamed) {
  folder_.write("weights/resnet34-b627a593.pth", "bytes");
  const auto bad = test::cli_output({"weights", "check"});
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.out, HasSubstr("sha256 is " + sha256("bytes") +
                                 " and should begin with b627a593\n1 file in "));
  const auto other = folder_.write("other.pth", "bytes");
  const auto got = test::cli_output({"weights", "get", "resnet18", "--file", other});
  EXPECT_EQ(got.code, 3);
  EXPECT_THAT(got.err, HasSubstr("and should begin with f37072fd"));
  EXPECT_EQ(test::cli_output({"weights", "get", "resnet50", "imagenet1k_v3"}).err,
            "error: 'resnet50' has no weights 'imagenet1k_v3'; did you mean 'imagenet1k_v1'?\n");
  EXPECT_EQ(test::cli_output({"weights", "lst"}).err,
            "error: 'weights' has no action 'lst'; did you mean 'list'?\n");
}

}  // namespace
}  // namespace ddptrain
