#include "jobs/data/data_show.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/color.h"
#include "base/output/log.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "data/preview.h"
#include "jobs/data/token_text.h"
#include "sources/sampler.h"
#include "train/build/build.h"
#include "transforms/codecs/write.h"
#include "transforms/preview/contact_sheet.h"

namespace ddptrain {
namespace {

std::vector<std::int64_t> chosen(const Recipe& recipe, const Dataset& data,
                                 const ShowOptions& options) {
  if (options.split == Split::train) {
    auto order = build_sampler(recipe, data)->order(0);
    order.resize(std::min(order.size(), static_cast<std::size_t>(options.count)));
    return order;
  }
  const auto size = data.size(options.split);
  const auto count = std::min<std::int64_t>(options.count, size);
  std::vector<std::int64_t> spread;
  for (std::int64_t i = 0; i < count; ++i) spread.push_back(i * size / count);
  return spread;
}

std::vector<Preview> previews(const Recipe& recipe, const Dataset& data,
                              const ShowOptions& options) {
  std::vector<Preview> all;
  for (const auto index : chosen(recipe, data, options)) {
    const Draw draw{seed_of_data(recipe), 0, static_cast<std::int64_t>(all.size())};
    all.push_back(data.preview(options.split, index, draw));
  }
  return all;
}

/// The label or the number alone, of several a line each, or the name of the file.
std::string caption(const Preview& sample) {
  const auto& cells = sample.cells;
  if (cells.empty()) return std::filesystem::path(sample.name).stem().string();
  const bool titled = cells.front().first != cells.back().first;
  std::vector<std::string> lines;
  for (const auto& [title, text] : cells) lines.push_back(titled ? title + " " + text : text);
  return join(lines, "\n");
}

void write_sheet(std::vector<Preview> samples, const std::string& file) {
  std::vector<Captioned> images;
  for (auto& sample : samples)
    if (sample.image) images.push_back({std::move(*sample.image), caption(sample)});
  write_atomically(file, encode_png(contact_sheet(images)));
  log::info("drew {} into {}", plural(static_cast<std::int64_t>(images.size()), "image"), file);
}

void print_words(const std::vector<std::vector<std::string>>& rows) {
  for (const auto& line : aligned(rows, Flush::left)) print_lines(line + "\n");
}

void print_token_texts(const std::vector<Preview>& samples) {
  const auto form = log::is_stdout_colored() ? TokenMarks::color : TokenMarks::brackets;
  for (const auto& sample : samples) print_inked(token_text(sample, form));
}

/// A sample's cells under the titles of all.
std::vector<std::vector<std::string>> table(const std::vector<Preview>& samples) {
  std::vector<std::vector<std::string>> rows{{"sample"}};
  for (const auto& sample : samples)
    for (const auto& [title, text] : sample.cells)
      if (std::find(rows[0].begin() + 1, rows[0].end(), title) == rows[0].end())
        rows[0].push_back(title);
  for (const auto& sample : samples) {
    std::vector<std::string> row(rows[0].size());
    row[0] = std::filesystem::path(sample.name).filename().string();
    for (const auto& [title, text] : sample.cells)
      row[static_cast<std::size_t>(std::find(rows[0].begin() + 1, rows[0].end(), title) -
                                   rows[0].begin())] = shown(text, text.size());
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

void show_samples(const Recipe& recipe, const ShowOptions& options) {
  const auto data = build_data(recipe);
  auto samples = previews(recipe, *data, options);
  const bool images = std::any_of(samples.begin(), samples.end(),
                                  [](const auto& sample) { return sample.image.has_value(); });
  if (samples.empty()) throw Error(Exit::data, "there is no sample to show");
  if (images)
    write_sheet(std::move(samples), options.output);
  else if (!samples.front().tokens.empty())
    print_token_texts(samples);
  else
    print_words(table(samples));
}

}  // namespace ddptrain
