// A small recipe of each task that is more than one class a sample, with dropout, data that are
// divided by `data.valid.fraction` and a short last batch.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {

struct Task {
  std::string name;
  std::string recipe;  // without what all have
  std::function<void(const Folder&)> write_data;
  std::vector<std::string> predicted;  // what `predict` is given after the run
  std::string output;                  // how its rows begin
  bool shows_images = true;            // in `data show`
};

inline const std::string kEveryTask = R"(recipe: 1
batch: {global: 6}
train: {duration: 2 epochs, threads: 1, precision: fp64}
optimizer: {type: adamw, lr: 1e-2}
parallel: {device: cpu}
log: {tensorboard: false}
checkpoint: {every: 1 step, keep_last: 20}
output: {report: false}
)";

/// Rows of a CSV without its last column, "split".
inline std::string without_last_column(const std::string& csv) {
  std::string kept;
  for (std::size_t at = 0; at < csv.size();) {
    const auto end = csv.find('\n', at);
    kept += csv.substr(at, csv.rfind(',', end) - at) + "\n";
    at = end + 1;
  }
  return kept;
}

inline void make_points(const Folder& folder) {
  const auto made =
      run({"data", "make", "points", "points", "--train", "20", "--val", "5", "--size", "16"},
          folder.path());
  ASSERT_EQ(made.code, 0) << made.err;
  write(folder / "points/all.csv", without_last_column(read(folder / "points/points.csv")));
}

inline void make_masks(const Folder& folder) {
  const auto made =
      run({"data", "make", "masks", "masks", "--train", "20", "--val", "5", "--size", "16"},
          folder.path());
  ASSERT_EQ(made.code, 0) << made.err;
}

inline void make_ratings(const Folder& folder) {
  std::string csv = "user,item,rating\n";
  for (int row = 0; row < 60; ++row) {
    const int user = row % 7, item = (row * 3 + row / 7) % 11;
    csv += "u" + std::to_string(user) + ",i" + std::to_string(item) + "," +
           std::to_string(1 + user % 3 + 0.5 * (item % 4)) + "\n";
  }
  write(folder / "ratings.csv", csv);
}

inline void make_scored_texts(const Folder& folder) {
  std::string csv = "text,score\n";
  for (int row = 0; row < 25; ++row) {
    for (int word = 0; word < 2 + row % 9; ++word)
      csv += "w" + std::to_string((row * 5 + word * 3) % 13) + " ";
    csv += "," + std::to_string(0.25 * (row % 9)) + "\n";
  }
  write(folder / "texts.csv", csv);
}

inline const char* const kImageNetwork = R"(
  type: sequential
  layers: [flatten, {type: linear, out: 12}, relu, {type: dropout, p: 0.2}, {type: linear, out: )";

inline Task points_task() {
  return {"points",
          std::string("name: points\nmodel:") + kImageNetwork + R"(4}]
data:
  type: image_points
  file: points/all.csv
  valid: {fraction: 0.25}
  transforms: {train: [{type: horizontal_flip, p: 0.5}], valid: []}
  loader: {drop_last: false}
loss: mse
metrics: [point_distance, rmse]
)",
          make_points,
          {"points/images/val_0000.png"},
          "path,x1,y1,x2,y2,error\npoints/images/val_0000.png,"};
}

inline Task image_numbers_task() {
  return {"image_numbers",
          std::string("name: image_numbers\nmodel:") + kImageNetwork + R"(2}]
data:
  type: manifest
  file: points/all.csv
  numbers: [x1, y1]
  valid: {fraction: 0.25}
  transforms: {train: [{type: color_jitter, brightness: 0.2}], valid: []}
  loader: {drop_last: false}
loss: smooth_l1
metrics: [rmse, mae]
)",
          make_points,
          {"points/images/val_0000.png"},
          "path,x1,y1,error\npoints/images/val_0000.png,"};
}

inline Task text_number_task() {
  return {"text_number",
          R"(name: text_number
model: {type: bag_of_embeddings, dim: 6, hidden: [5], dropout: 0.2, token_dropout: 0.1}
data:
  type: text_csv
  file: texts.csv
  text: [text]
  label: score
  task: regression
  cache: cache
  vocabulary: {min_freq: 1}
  valid: {fraction: 0.25}
  loader: {drop_last: false}
loss: mse
metrics: [rmse, mae]
)", make_scored_texts, {"texts.csv"}, "path,value,", false};
}

inline Task masks_task() {
  return {"masks",
          R"(name: masks
model:
  type: sequential
  layers: [{type: conv, out: 6, kernel: 3, padding: 1}, relu, {type: dropout, p: 0.2}, {type: conv, out: 4, kernel: 1}]
data:
  type: image_masks
  root: masks
  codes: codes.txt
  void: ["255"]
  valid: {fraction: 0.25}
  transforms: {train: [{type: horizontal_flip, p: 0.5}], valid: []}
  loader: {drop_last: false}
loss: {type: cross_entropy, ignore_index: 255}
metrics: [accuracy, jaccard_coeff_multi, dice_multi]
)",
          make_masks,
          {"masks/images/val", "--output", "out"},
          ""};
}

inline Task ratings_task() {
  return {"ratings",
          R"(name: ratings
model: {type: collab_nn, layers: [8], ps: [0.2], embed_p: 0.1, use_bn: false, y_range: [0, 5.5]}
data: {type: ratings, file: ratings.csv, valid: {fraction: 0.25}, loader: {drop_last: false}}
loss: mse
metrics: [rmse, mae]
)", make_ratings, {"ratings.csv"}, "row,value,", false};
}

class TaskRuns : public testing::TestWithParam<Task> {
 protected:
  TaskRuns() {
    GetParam().write_data(folder_);
    write(folder_ / "task.yaml", kEveryTask + GetParam().recipe);
  }
  Ended call(const std::vector<std::string>& words) const { return run(words, folder_.path()); }
  Ended train(std::vector<std::string> more) const {
    more.insert(more.begin(), {"run", "task.yaml"});
    return call(more);
  }
  std::string run_folder(const std::string& number) const {
    return folder_ / ("runs/" + GetParam().name + "/" + number);
  }
  const Folder folder_;
};

inline std::string task_name(const testing::TestParamInfo<Task>& info) { return info.param.name; }

}  // namespace ddptrain::end_to_end
