#include "jobs/export/huggingface.h"

#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/output/log.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "jobs/run_texts.h"

namespace ddptrain {
namespace {

Json id_or_null(std::int64_t number) { return number < 0 ? Json() : Json(number); }

/// One number alone, as most readers expect it.
Json one_or_all(const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return {};
  return numbers.size() == 1 ? Json(numbers.front()) : Json(numbers);
}

/// The numbers of the tokens that begin, end and fill up texts, null where there is none.
void add_ids(Json& json, const PublishedTexts& texts) {
  const auto begin = texts.codec ? texts.codec->beginning() : std::vector<std::int64_t>();
  json["bos_token_id"] = id_or_null(begin.empty() ? -1 : begin.front());
  json["eos_token_id"] = one_or_all(texts.ends);
  json["pad_token_id"] = id_or_null(texts.codec ? texts.codec->padding() : -1);
}

/// Both spellings of the type: versions before 5 read `torch_dtype`.
Json config_of(const std::vector<std::pair<std::string, std::string>>& published,
               const PublishedTexts& texts) {
  Json json;
  for (const auto& [key, value] : published) json[key] = parse_json(value);
  add_ids(json, texts);
  json["dtype"] = "float32";
  json["torch_dtype"] = "float32";
  return json;
}

Json generation_config(const PublishedTexts& texts) {
  Json json = Json::object();
  add_ids(json, texts);
  if (const auto unknown = texts.codec->unknown(); unknown >= 0)
    json["suppress_tokens"] = {unknown};
  return json;
}

Json tokenizer_config(const PublishedTexts& texts) {
  const auto& codec = *texts.codec;
  Json json{{"tokenizer_class", "PreTrainedTokenizerFast"},
            {"clean_up_tokenization_spaces", false}};
  const auto name = [&](const char* key, std::int64_t number) {
    if (number >= 0) json[key] = codec.token(number);
  };
  const auto begin = codec.beginning();
  name("bos_token", begin.empty() ? -1 : begin.front());
  name("eos_token", texts.ends.size() == 1 ? texts.ends.front() : -1);
  name("unk_token", codec.unknown());
  return json;
}

void write_json(const std::string& path, const Json& json) {
  write_atomically(path, json_text(json, 2) + "\n");
}

/// Returns the names of the files.
std::vector<std::string> write_texts(const std::string& folder, const PublishedTexts& texts) {
  if (!texts.codec) return {};
  write_json(folder + "/generation_config.json", generation_config(texts));
  if (texts.tokenizer_file.empty()) {
    log::warning("transformers has no tokenizer like that of the run: {} has no tokenizer.json",
                 folder);
    return {"generation_config.json"};
  }
  write_atomically(folder + "/tokenizer.json", read_text(texts.tokenizer_file));
  write_json(folder + "/tokenizer_config.json", tokenizer_config(texts));
  return {"generation_config.json", "tokenizer.json", "tokenizer_config.json"};
}

void make_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(Exit::data, "cannot make the folder '{}': {}", folder, failed.message());
}

}  // namespace

PublishedTexts published_texts(const Recipe& recipe, const SavedData& saved,
                               const std::string& tokenizer_file) {
  if (!is_text_state(saved.fitted)) return {};
  auto fitted = fitted_tokens_of(saved.fitted);
  const auto tokenizer = tokenizer_of(recipe, fitted, tokenizer_file);
  const auto* file = tokenizer.node().find("file");
  PublishedTexts texts{std::make_unique<TextCodec>(tokenizer, std::move(fitted)), {}, {}};
  texts.ends = text_ends(recipe, *texts.codec);
  if (file) texts.tokenizer_file = file->text;
  return texts;
}

void write_huggingface_folder(const std::string& folder, const Model& model,
                              const std::vector<NamedTensor>& weights,
                              const PublishedTexts& texts) {
  const auto published = model.published_config();
  if (published.empty())
    throw Error(Exit::recipe,
                "--format huggingface: transformers has no such network; without --format the "
                "weights are one .safetensors file");
  make_folder(folder);
  write_safetensors(folder + "/model.safetensors", {weights, {{"format", "pt"}}});
  write_json(folder + "/config.json", config_of(published, texts));
  std::vector<std::string> files{plural(std::ssize(weights), "tensor"), "config.json"};
  for (auto& file : write_texts(folder, texts)) files.push_back(std::move(file));
  log::info("wrote {} to {}", join(files, ", "), folder);
}

}  // namespace ddptrain
