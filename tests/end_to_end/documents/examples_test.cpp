// Every command that README.md and docs/ show runs as it is written there, in a folder that has
// what a reader has by then: the quick start's run, data of their own under the names of the
// documents, small ones. What stands for a file (R, RUN, FOLDER) becomes the name of one.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "end_to_end/documents/examples.h"
#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;

/// Commands that cannot run in a test, by their beginnings, and why.
const std::map<std::string, std::string> kElsewhere{
    {"make", "sets up or builds; .ci and people run it"},
    {"build-checker/", "is built by make checker"},
    {"torchrun", "comes with Python's torch"},
    {"srun", "comes with Slurm"},
    {"tar xf gpu-bundle", "is for a machine with a GPU"},
    {"gpu-bundle/", "is for a machine with a GPU"},
    {"pre-commit", "is another program, which fetches this repository"},
    {"scripts/track wandb", "needs Python's wandb"},
    {"scripts/track mlflow", "needs Python's mlflow"},
    {"ddptrain data get", "fetches from the network"},
    {"ddptrain weights get", "fetches from the network"},
    {"ddptrain setup cuda", "fetches from the network"},
    {"ddptrain run RECIPE parallel.devices=[0,1]", "names two GPUs"},
    {"ddptrain run mine.yaml parallel.mode=fsdp parallel.devices=2 parallel.shard.offload",
     "names devices other than the CPU"},
    {"ddptrain run configs/imagenette.yaml model.weights=", "reads published weights"},
    {"ddptrain run recipes/imdb-bag.yaml seed=N", "needs as many texts as a batch has"},
    {"ddptrain run recipes/image-regression.yaml seed=N", "needs as many images as a batch has"},
    {"ddptrain run recipes/camvid-tiny.yaml", "needs as many images as a batch has"},
    {"ddptrain run recipes/biwi-tiny.yaml", "needs as many images as a batch has"},
    {"ddptrain run recipes/imdb-transformer.yaml", "needs as many texts as a batch has"},
    {"ddptrain run recipes/imagenette-resnet18.yaml data.root=", "needs another archive's images"},
    {"ddptrain run recipes/imagenette.yaml seed=N", "needs another archive's images"},
    {"ddptrain run recipes/cifar10.yaml seed=N", "needs as many images as a batch has"},
    {"build/ddptrain verify configs/quickstart.yaml",
     "needs all images; Verify.* has smaller ones"},
    {"ddptrain export RUN FILE.safetensors --names timm", "needs a network that timm has"},
    {"ddptrain eval RUN model.padding=fastai", "needs a run of awd_lstm"},
    {"ddptrain plugin shapes", "needs a plug-in; NewPlugin.* builds one"},
    {"ddptrain schema --plugin", "needs a plug-in; Plugins.* has one"},
    {"ddptrain run mine.yaml parallel.mode=fsdp --nodes 2", "needs two nodes; Nodes.* has them"},
    {"ddptrain cache clear", "deletes what the user keeps; CacheVerb.* has folders of its own"},
    {"ddptrain stop", "needs a run that goes on; LongRun.* has one"},
    {"ddptrain generate", "needs a language model's run; Generate.* has one"},
    {"ddptrain data shards recipes/imagenette.yaml", "needs an archive; DataShards.* has images"},
    {"ddptrain data tokens", "needs a language model's recipe; DataTokens.* has one"},
    {"ddptrain export RUN FOLDER --format huggingface", "needs a run of gpt2"},
};

/// What placeholders stand for, in a whole command first.
const std::vector<std::pair<std::string, std::string>> kStandsFor{
    {"ddptrain predict RUN -",
     "printf 'good film\\nbad film\\n' | ddptrain predict runs/reviews/001 -"},
    {"ddptrain predict RUN people.csv", "ddptrain predict runs/people/001 people.csv"},
    {"ddptrain export RUN films.csv", "ddptrain export runs/films/001 vectors.csv"},
    {"ddptrain resume RUN parallel.devices=4",
     "ddptrain resume runs/quickstart/001 parallel.devices=4"},
    {"ddptrain bench R batch.global=128 --format json",
     "ddptrain bench mine.yaml batch.global=32 --format json"},
    {"ddptrain plan R --devices 8,64,512 --machine h100x8",
     "ddptrain plan mine.yaml --devices 1,8,16 --machine h100x8"},
    {"ddptrain report FOLDER", "ddptrain report runs/mine/sweep-001"},
    {"ddptrain describe data NAME", "ddptrain describe data image_folder"},
    {"ddptrain describe model NAME", "ddptrain describe model resnet18"},
    {"ddptrain describe KEY", "ddptrain describe optimizer.lr"},
    {"ddptrain help VERB", "ddptrain help run"},
    {"ddptrain init TEXTS", "ddptrain init stories"},
    {"RUN RUN", "runs/mine/001 runs/mine/002"},
    {"RUN", "runs/mine/001"},
    {"RECIPE", "mine.yaml"},
    {"R", "mine.yaml"},
    {"FOLDER", "photos"},
    {"A B", "mine.yaml runs/mine/001"},
    {"DDPTRAIN_DATA=/data", "DDPTRAIN_DATA=$$PWD/data"},
    {"N", "1"},
    {"data.root=OTHER", "data.root=data/shapes"},
};

std::string filled_in(std::string command) {
  for (const auto& [word, value] : kStandsFor) {
    const std::regex whole("(^|[ =])" + word + "(?= |$)");
    command = std::regex_replace(command, whole, "$01" + value);
  }
  return command;
}

/// Exit codes other than 0.
int expected_code(const Example& example) {
  return example.command.starts_with("ddptrain diff ") ? 1 : 0;  // the two differ
}

const char* why_elsewhere(const std::string& command) {
  for (const auto& [beginning, why] : kElsewhere)
    if (command.starts_with(beginning)) return why.c_str();
  return nullptr;
}

/// A few steps where a recipe has epochs, and no promise about what they reach.
void shorten(const fs::path& file) {
  auto text = read(file);
  std::vector<std::pair<const char*, const char*>> shorter{
      {"\nexpect:[^\n]*", ""},
      {"size: (64|128)\\b", "size: 32"},
      {"type: resnet18\\b", "type: xresnet18, stem: [8, 8, 16], widen: 0.25"},
      {"\n    optimizer.weight_decay:[^\n]*\n    batch.global:[^\n]*", ""}};  // of a sweep
  // Of the shapes, of which there are few here, an epoch is two steps.
  if (text.find("name: shapes") == std::string::npos)
    shorter.insert(shorter.end(), {{"duration: [0-9]+ epochs?", "duration: 4 steps"},
                                   {"epochs: [0-9]+", "epochs: 1"}});
  for (const auto& [pattern, brief] : shorter)
    text = std::regex_replace(text, std::regex(pattern), brief);
  write(file, text);
}

/// Recipe `mine.yaml` with all that examples ask of a run: several checkpoints, the best one, a
/// test split and another, averages.
std::string recipe_of_mine() {
  return R"(recipe: 1
name: mine
model:
  type: sequential
  layers: [{type: conv, out: 8}, batch_norm, relu, adaptive_avg_pool, flatten,
           {type: linear, out: auto}]
data:
  type: image_folder
  root: data/shapes
  train: train
  valid: val
  transforms: {train: [{type: resize, size: 28}], valid: [{type: resize, size: 28}]}
batch: {global: 16}
train: {duration: 4 steps, ema: {decay: 0.9}}
metrics: [accuracy]
optimizer: {type: sgd, lr: 0.01}
eval: {every: 2 steps, splits: {sketch: {valid: train}}, test: {valid: train}}
checkpoint: {every: 2 steps, keep_last: 5, keep_best: {metric: accuracy}}
parallel: {device: cpu}
)";
}

/// The program, drawing few images.
void write_program(const Folder& folder) {
  write(folder / "build/ddptrain",
        "#!/bin/bash\ncase \"$1 $2 $3\" in\n'data make shapes'|'data make masks'|"
        "'data make points') set -- \"$@\" --train 12 --val 4 --size 32;;\nesac\nexec '" +
            test::program() + "' \"$@\"\n");
  fs::permissions(folder / "build/ddptrain", fs::perms::owner_all);
}

/// What the repository has for readers: of the recipes those that a CPU trains in no time, and no
/// data.
void copy_repository(const std::string& to) {
  fs::create_directories(to + "/recipes");
  for (const auto* part : {"configs", "schemas", "recipes/base"})
    fs::copy(test::in_source(part), to + "/" + part, fs::copy_options::recursive);
  for (const std::string name :
       {"adult", "biwi-tiny", "camvid-tiny", "houses", "image-regression", "imagenette",
        "imagenette-resnet18", "imdb-bag", "imdb-transformer", "movielens", "ratings", "shapes",
        "shapes-sweep"})
    fs::copy(test::in_source("recipes/" + name + ".yaml"), to + "/recipes");
  for (const auto* part : {"/recipes", "/configs"})
    for (const auto& entry : fs::recursive_directory_iterator(to + part))
      if (entry.is_regular_file()) shorten(entry.path());
}

/// A made table with the columns of Adult.
std::string adult_rows() {
  std::string csv =
      "age,workclass,fnlwgt,education,education-num,marital-status,occupation,"
      "relationship,race,class\n";
  for (int i = 0; i < 200; ++i)
    csv += std::to_string(20 + i % 50) + (i % 3 ? ",Private," : ",State-gov,") +
           std::to_string(70000 + i) + ",Bachelors,13,Divorced,Sales,Husband,White," +
           (i % 4 ? "<=50K\n" : ">50K\n");
  return csv;
}

/// Small data, and runs that earlier examples would have left.
class Prepared {
 public:
  Prepared() {
    copy_repository(folder_.path());
    write_program(folder_);
    write(folder_ / "mine.yaml", recipe_of_mine());
    write(folder_ / "old.yaml", recipe_of_mine());
    write(folder_ / "accelerate.yaml", "distributed_type: MULTI_CPU\nnum_processes: 2\n");
    write(folder_ / "ds_config.json", "{\"train_batch_size\": 64}\n");
    typed("data make shapes data/shapes");
    typed("data make masks data/masks");
    typed("data make points data/points");
    typed("data make table data/houses --rows 200");
    typed("data make ratings data/ratings --rows 400");
    fs::copy(folder_ / "data/shapes/val", folder_ / "photos", fs::copy_options::recursive);
    fs::copy(folder_ / "data/shapes", folder_ / "data/imagenette2-160",
             fs::copy_options::recursive);
    fs::copy(folder_ / "data/houses/houses.csv", folder_ / "people.csv");
    const auto ratings = read(folder_ / "data/ratings/ratings.csv");
    write(folder_ / "films.csv", "userId,movieId,rating" + ratings.substr(ratings.find('\n')));
    write(folder_ / "data/adult.csv", adult_rows());
    write_texts("reviews/good", "reviews/bad");
    write_stories();
    for (const std::string side : {"data/imdb/train", "data/imdb/test"})
      write_texts(side + "/pos", side + "/neg");
    for (const std::string name : {"people", "films", "reviews"}) {
      typed("init " + name + (name == "reviews" ? "" : ".csv"));
      shorten(folder_ / (name + ".yaml"));
      typed("run " + name + ".yaml");
      fs::remove(folder_ / (name + ".yaml"));  // for those who type `init` themselves
    }
    typed("sweep mine.yaml optimizer.lr=1e-3,1e-2");
    typed("run mine.yaml");
    typed("run mine.yaml");
    typed("run configs/quickstart.yaml");
  }
  const std::string& path() const { return folder_.path(); }

 private:
  void write_texts(const std::string& good, const std::string& bad) {
    for (int i = 0; i < 60; ++i)
      write(folder_ / ((i % 2 ? good : bad) + "/" + std::to_string(i) + ".txt"),
            i % 2 ? "a good film of many words" : "a bad film of many words");
  }
  /// Without labels, and with as many words as `init` wants.
  void write_stories() {
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (int k = 0; k < 100; ++k) text += (i + k) % 3 ? "a cat went home. " : "the dog saw it. ";
      write(folder_ / ("stories/" + std::to_string(i) + ".txt"), text);
    }
  }
  void typed(const std::string& words) {
    const auto ended = Program({"-c", "unset DDPTRAIN_DATA; build/ddptrain " + words}, path(),
                               {{"HOME", path()}}, "bash")
                           .wait();
    EXPECT_EQ(ended.code, 0) << words << "\n" << ended.err;
  }
  Folder folder_;
};

/// One after another, each with its exit code in `codes` and what it wrote in 1.out, 1.err, ...
std::string script_of(const Block& block) {
  std::string script = "unset DDPTRAIN_DATA\nPATH=$PWD/build:$PATH HOME=$PWD\n";
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto n = std::to_string(i);
    script += "{ " + filled_in(block[i].command) + "\n} < /dev/null > " + n + ".out 2> " + n +
              ".err; echo $? >> codes\n" +
              "sed -i -E 's/duration: [0-9]+ epochs?/duration: 4 steps/' *.yaml 2> /dev/null\n";
  }
  return script;
}

/// The prepared folder: samples, which no command changes, are other names of the same files, since
/// hundreds of files for each block cost more than its commands.
void copy_prepared(const std::string& from, const std::string& to) {
  const std::set<std::string> samples{"data", "photos", "reviews", "stories"};
  for (const auto& entry : fs::directory_iterator(from)) {
    const auto name = entry.path().filename().string();
    fs::copy(
        entry.path(), fs::path(to) / name,
        fs::copy_options::recursive | (samples.contains(name) ? fs::copy_options::create_hard_links
                                                              : fs::copy_options::copy_symlinks));
  }
}

/// A block in a folder of its own.
class Running {
 public:
  Running(const Block& block, const std::string& prepared) : block_(block) {
    const bool makes_data = block[0].command.starts_with("ddptrain data make");
    if (makes_data) copy_repository(folder_.path()), write_program(folder_);
    if (!makes_data) copy_prepared(prepared, folder_.path());
    program_.emplace(std::vector<std::string>{"-c", script_of(block)}, folder_.path(),
                     std::map<std::string, std::string>{}, "bash");
  }
  bool running() { return program_->running(); }
  void check() {
    program_->wait();
    std::istringstream codes(read(folder_ / "codes"));
    for (std::size_t i = 0; i < block_.size(); ++i) {
      int code = -1;
      codes >> code;
      EXPECT_EQ(code, expected_code(block_[i])) << block_[i].where << ": " << block_[i].command
                                                << "\nas " << filled_in(block_[i].command) << "\n"
                                                << read(folder_ / (std::to_string(i) + ".err"));
    }
  }

 private:
  Folder folder_;
  Block block_;
  std::optional<Program> program_;
};

/// Without what cannot run here, and without what an earlier block has: a block of one command, and
/// one on `mine.yaml`, of which the prepared folder has the runs.
std::vector<Block> to_run() {
  std::vector<Block> blocks;
  std::set<std::string> seen;
  for (auto& block : shown_commands()) {
    std::erase_if(block,
                  [](const Example& each) { return why_elsewhere(each.command) != nullptr; });
    const bool alone = block.size() == 1;
    std::erase_if(block, [&](const Example& each) {
      const auto command = filled_in(each.command);
      const bool first = seen.insert(command).second;
      return !first && (alone || command.find("mine.yaml") != std::string::npos);
    });
    if (!block.empty()) blocks.push_back(std::move(block));
  }
  return blocks;
}

// Two blocks at a time; none depends on another.
TEST(Examples, OfTheDocumentsRunAsTheyAreWritten) {
  const Prepared prepared;
  if (HasFailure()) return;
  std::vector<std::unique_ptr<Running>> running;
  const auto blocks = to_run();
  EXPECT_GT(blocks.size(), 50u);
  for (std::size_t next = 0; next < blocks.size() || !running.empty();) {
    while (running.size() < 2 && next < blocks.size())
      running.push_back(std::make_unique<Running>(blocks[next++], prepared.path()));
    std::erase_if(running, [](auto& each) {
      if (each->running()) return false;
      each->check();
      return true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// A row that nothing shows any more is taken out.
TEST(Examples, ThatCannotRunHereAreShownSomewhere) {
  std::set<std::string> unused;
  for (const auto& each : kElsewhere) unused.insert(each.first);
  for (const auto& block : shown_commands())
    for (const auto& example : block)
      std::erase_if(unused, [&](const auto& each) { return example.command.starts_with(each); });
  EXPECT_EQ(unused, std::set<std::string>{});
}

}  // namespace
}  // namespace ddptrain::end_to_end
