#include "base/files/files.h"
#include "callbacks/writers.h"

namespace ddptrain {
namespace {

class TablesCsv final : public Callback {
 public:
  explicit TablesCsv(std::string folder) : folder_(std::move(folder)) {}

  void at(Moment moment, const RunView& run, RunControl&) override {
    const bool brings =
        moment == Moment::evaluated || moment == Moment::concluded || moment == Moment::tested;
    if (!brings) return;
    for (const auto& table : run.tables) write_table(folder_, table);
  }

 private:
  std::string folder_;
};

}  // namespace

void write_table(const std::string& folder, const NamedTable& table) {
  const auto split = table.name.substr(0, table.name.find('/'));
  const auto name = table.file + (split == "valid" ? "" : "." + split) + ".csv";
  write_atomically(folder + "/" + name, to_csv(table));
}

std::unique_ptr<Callback> make_tables_csv(const std::string& folder) {
  return std::make_unique<TablesCsv>(folder);
}

}  // namespace ddptrain
