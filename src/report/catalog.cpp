// The sections of a report.
#include "report/section.h"

namespace ddptrain {

Section class_scores_section();
Section comparison_section();
Section confusion_section();
Section curves_section();
Section differences_section();
Section environment_section();
Section headline_section();
Section metrics_section();
Section recipe_section();
Section warnings_section();

const std::vector<Section>& sections() {
  static const std::vector<Section> all{
      headline_section(), comparison_section(), differences_section(),  metrics_section(),
      curves_section(),   confusion_section(),  class_scores_section(), warnings_section(),
      recipe_section(),   environment_section()};
  return all;
}

}  // namespace ddptrain
