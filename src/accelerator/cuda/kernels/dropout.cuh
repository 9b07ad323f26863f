// Parameters of the dropout kernel; shared with the host.
#pragma once

/// Row r of the input begins at r * row_stride, its repetition t at t * repeat_stride from there,
/// and element e of that at (e / inner) * outer_stride + (e % inner) * inner_stride, all counted in
/// elements. Input and output have the same strides.
struct DropoutArguments {
  unsigned long long key;
  unsigned step, first_row;
  const long long* step_there;  // the step on the device; null: it is `step`
  unsigned last;                // words up to this one stand for `dropped`, others for `kept`
  int one_word;                 // for a whole row: that of element 0
  int vectors;                  // four elements at once can be read and written
  int small;                    // all counts fit into 31 bits
  double dropped, kept;         // factors
  long long rows, repeats, elements;
  long long row_stride, repeat_stride, inner, outer_stride, inner_stride;
};
