// What C4.5 (Quinlan 1993; release 8, as Weka's J48 has it) does with a grown tree: it gives every category a branch,
// collapses subtrees that save no training error, and prunes by the errors to be expected on new rows.
#pragma once


#include "base/interrupt.hpp"
#include "c45/stem_tree.hpp"
#include "grow/options.hpp"

namespace foresift {

/// How many errors must be added to `errors` among `n` > 0 rows to reach the upper limit of the confidence interval
/// of their number. `z`: the normal deviate that is exceeded with the probability `confidence`, 0 < confidence <= 1/2.
double added_errors(double n, double errors, double confidence, double z) noexcept;

/// The normal deviate that is exceeded with probability p, 0 < p <= 1/2.
double normal_deviate(double p) noexcept;

/// A nominal split gets one branch per category that occurs in `rows`, in the order of the codes; see kNoWeight. If it
/// was grown on groups of categories (`grouped`), it keeps them, and a category that did not occur at the node joins
/// the largest one.
/// Missing values take all branches in parts, at every node. The gain of a node is the information gain of its split
/// on the rows with a known value, times their share; nothing is subtracted for the number of cuts.
Tree finish_c45(const TrainingRows& rows, const Tree& grown, bool grouped, const FinishOptions& options,
                const Stop& stop);

}  // namespace foresift
