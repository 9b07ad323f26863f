// `init` from a user's data: what was found there, and a recipe for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"

namespace ddptrain {

/// Where the data are.
struct InitRequest {
  std::string path;       // as given
  std::string written;    // as the recipe shall write it
  std::string target;     // the column to predict, where the user named one
  std::string text{};     // the column of texts to learn from, where the user named one
  bool table = false;     // a table is to be made, whatever the columns hold
  bool language = false;  // a language model is to be made of texts, whatever labels they have
};

struct Draft {
  std::vector<std::string> found;  // a line each, for the terminal
  std::string recipe;              // YAML, from `model` on
  std::string input = {};          // what may be predicted; empty: the data
  std::string output = {};         // the folder of its files; empty: there are none
  bool small_work = false;         // of which several devices do not do more
  std::string prompt = {};         // of a language model: what it may continue
};

/// Each throws an Error (Exit::data) where there is nothing to train on, and says what is wanted.
Draft draft_images(const InitRequest& request);
/// Images in one folder and the mask of each in another; nothing where they are not.
std::optional<Draft> draft_masks(const InitRequest& request);
/// Images with a pose file each, as the Biwi Kinect Head Pose Database has them; nothing where they
/// are not.
std::optional<Draft> draft_poses(const InitRequest& request);
/// Texts in class folders; a language model where there are none.
Draft draft_texts(const InitRequest& request);
/// A CSV file: rows of a table, or of images or texts where a column holds those.
Draft draft_csv(const InitRequest& request);
/// Rows of a table.
Draft draft_parquet(const InitRequest& request);
Draft draft_json_lines(const InitRequest& request);

/// Writes the recipe and names the two commands to type next.
int init_from_data(const Arguments& arguments);

}  // namespace ddptrain
