// The sections of a report.
#include <algorithm>

#include "report/section.h"

namespace ddptrain {

Section binary_section();
Section calibration_section();
Section class_scores_section();
Section comparison_section();
Section confusion_section();
Section curves_section();
Section data_section();
Section differences_section();
Section environment_section();
Section headline_section();
Section metrics_section();
Section numbers_section();
Section recipe_section();
Section samples_section();
Section texts_section();
Section time_section();
Section transfer_section();
Section warnings_section();
SweepSection importance_section();
SweepSection parallel_coordinates_section();
SweepSection trials_section();

bool is_count(const std::string& name) {
  const bool of_a_score = std::ranges::count(name, '/') >= 2;
  return of_a_score && (name.ends_with("/tokens") || name.ends_with("/bytes"));
}

const std::vector<Section>& sections() {
  static const std::vector<Section> all{
      headline_section(), comparison_section(),  differences_section(),  metrics_section(),
      curves_section(),   confusion_section(),   class_scores_section(), samples_section(),
      texts_section(),    calibration_section(), binary_section(),       numbers_section(),
      time_section(),     data_section(),        transfer_section(),     warnings_section(),
      recipe_section(),   environment_section()};
  return all;
}

const std::vector<SweepSection>& sweep_sections() {
  static const std::vector<SweepSection> all{trials_section(), parallel_coordinates_section(),
                                             importance_section()};
  return all;
}

}  // namespace ddptrain
