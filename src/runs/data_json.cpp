#include "runs/data_json.h"

#include "base/files/files.h"
#include "runs/json_fields.h"

namespace ddptrain {

template <class Fields>
void fields(CountedSplit& split, Fields& f) {
  auto& [name, samples, counts] = split;
  f("name", name);
  f("samples", samples);
  f("counts", counts);
}

template <class Fields>
void fields(DataCounts& data, Fields& f) {
  auto& [classes, splits] = data;
  f("classes", classes);
  f("splits", splits);
}

void write_data_json(const DataCounts& data, const std::string& folder) {
  write_atomically(folder + "/" + kDataJson, lossy_json_text(ToJson::value(data)) + "\n");
}

DataCounts data_counts_of(const std::string& text) {
  return record_of<DataCounts>(text, kDataJson);
}

}  // namespace ddptrain
