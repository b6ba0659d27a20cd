// SURF and MultiSURF: as Relief, but the neighbours of a row are all rows nearer than a limit (Greene et al.; Urbanowicz
// et al.). The limit of MultiSURF is made of all distances, so all of them are measured in double precision, for a few
// rows at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interrupt.hpp"
#include "kernels/row_differences.hpp"

namespace foresift {

struct SurfOptions {
    double limit = -1;      // neighbours are nearer; negative: each row's mean distance less half the deviation
    double hit_below = 0;   // a quantity: hits differ by less
};

class Surf {
public:
    /// As of `Relief`: the spans must outlive the object; `quantity` is empty if there are classes.
    Surf(std::span<const double> rows, std::span<const std::uint32_t> n_values, std::span<const std::int32_t> target,
         std::uint32_t n_classes, std::span<const double> weights, const SurfOptions& options,
         std::span<const double> quantity = {});

    std::size_t n_sums() const noexcept { return differences_.n_features(); }

    /// Sums over the rows `sample` of their weight times (mean difference to near misses - that to near hits), one per
    /// feature, added to `sums`. With several classes the misses of a class that has more of them near count more.
    /// Const and safe to use from many threads. `stop` is polled; true throws Interrupted.
    void add(std::span<const std::uint32_t> sample, std::span<double> sums, const Stop& stop) const;

private:
    std::size_t n_rows() const noexcept { return target_.size(); }
    double weight(std::uint32_t row) const noexcept { return weights_.empty() ? 1.0 : weights_[row]; }
    double copies(std::uint32_t row, std::uint32_t of) const noexcept;
    std::size_t group(std::uint32_t row, std::uint32_t other) const noexcept;
    double limit(std::uint32_t row, std::span<const double> distances) const;
    void judge(std::uint32_t row, std::span<const double> distances, std::span<double> group_weight,
               std::span<double> sums) const;

    RowDifferences differences_;
    std::span<const std::int32_t> target_;
    std::span<const double> weights_, quantity_;
    SurfOptions options_;
    std::size_t n_groups_;       // classes, or the hits and misses of a quantity
    double n_other_classes_ = 1;  // that have rows
};

}  // namespace foresift
