#include "kernels/relief.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace foresift {
namespace {

constexpr std::size_t kLine = 32;       // values compared at a time
constexpr std::size_t kTile = 1 << 17;  // bytes of the lines that are compared with several others while at hand
constexpr std::size_t kTogether = 16;   // rows whose distances to a tile are found one after another
constexpr std::size_t kManyFeatures = 2048;  // from here on bytes mislead too much
constexpr double kMuch = 0x1p20;  // times the weight that is wanted of neighbours

// The coarse values: numbers from 0 to kScale, a missing one half way; codes below kMissing, which is a missing one.
template <class Coarse> inline constexpr Coarse kScale = std::numeric_limits<Coarse>::max();
template <class Coarse> inline constexpr Coarse kMissing = std::numeric_limits<Coarse>::max();

std::size_t padded(std::size_t n) { return (n + kLine - 1) / kLine * kLine; }

// Sum of absolute differences; `size` is a multiple of kLine. Of bytes one instruction compares sixteen; fewer than
// kManyFeatures of them cannot overflow.
std::uint64_t sum_of_differences(const std::uint8_t* a, const std::uint8_t* b, std::size_t size) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < size; i += kLine)
        for (std::size_t k = 0; k < kLine; ++k) sum += static_cast<std::uint32_t>(std::abs(int{a[i + k]} - int{b[i + k]}));
    return sum;
}
std::uint64_t sum_of_differences(const std::int16_t* a, const std::int16_t* b, std::size_t size) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < size; i += kLine) {
        std::uint32_t part = 0;
        for (std::size_t k = 0; k < kLine; ++k)  // in sixteen bits as long as it goes
            part += static_cast<std::uint16_t>(a[i + k] > b[i + k] ? a[i + k] - b[i + k] : b[i + k] - a[i + k]);
        sum += part;
    }
    return sum;
}

// Number of values that differ. A missing one differs from every other, also from a missing one.
template <class Coarse>
std::uint64_t number_of_differences(const Coarse* a, const Coarse* b, std::size_t size) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < size; i += kLine) {
        Coarse part = 0;
        for (std::size_t k = 0; k < kLine; ++k)
            part = static_cast<Coarse>(part + ((a[i + k] != b[i + k]) | (a[i + k] == kMissing<Coarse>)));
        sum += static_cast<std::uint64_t>(part);
    }
    return sum;
}

}  // namespace

Relief::Relief(std::span<const double> rows, std::span<const std::uint32_t> n_values,
               std::span<const std::int32_t> target, std::uint32_t n_classes, std::span<const double> weights,
               const ReliefOptions& options, std::span<const double> quantity)
    : differences_(rows, n_values), target_(target), weights_(weights), quantity_(quantity), options_(options),
      n_features_(n_values.size()), class_weight_(n_classes), order_(target.size()), place_(target.size()),
      class_begin_(n_classes + 1), offset_(target.size()), error_(target.size()) {
    const std::size_t n = n_rows();
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return target_[a] < target_[b]; });
    for (std::uint32_t i = 0; i < n; ++i) place_[order_[i]] = i;
    for (std::uint32_t row = 0; row < n; ++row) {
        class_weight_[target_[row]] += weight(row);
        ++class_begin_[target_[row] + 1];
    }
    std::partial_sum(class_begin_.begin(), class_begin_.end(), class_begin_.begin());
    for (std::uint32_t f = 0; f < n_features_; ++f) (n_values[f] ? nominal_ : numeric_).push_back(f);
    numeric_width_ = padded(numeric_.size());
    width_ = numeric_width_ + padded(nominal_.size());
    n_features_ < kManyFeatures ? write_coarse(bytes_) : write_coarse(words_);
    least_offset_ = *std::min_element(offset_.begin(), offset_.end());
    most_error_ = *std::max_element(error_.begin(), error_.end());
    if (options_.sigma > 0) {
        influence_ = {0};
        const double all = weights_.empty() ? double(n_rows()) : std::accumulate(weights_.begin(), weights_.end(), 0.0);
        for (double r = 0; r < std::min(options_.n_neighbors, all); ++r) {
            const double influence = std::exp(-(r / options_.sigma) * (r / options_.sigma));
            if (influence < 0x1p-60) break;  // lost in the sum
            influence_.push_back(influence_.back() + influence);
        }
    }
}

// The lines of all rows, and by how much they mislead.
template <class Coarse>
void Relief::write_coarse(std::vector<Coarse>& lines) {
    scale_ = kScale<Coarse>;
    constexpr auto kHalf = static_cast<Coarse>(kScale<Coarse> / 2 + 1);
    constexpr auto kMostCodes = static_cast<std::uint32_t>(kMissing<Coarse>);
    lines.resize(n_rows() * width_);
    for (std::size_t place = 0; place < n_rows(); ++place) {
        const double* values = differences_.row(order_[place]);
        Coarse* out = &lines[place * width_];
        double offset = 0, error = 1e-12 * double(n_features_);  // sums in double precision are rounded too
        for (std::size_t k = 0; k < numeric_.size(); ++k) {
            const double v = values[numeric_[k]];
            if (std::isnan(v)) {
                // Half way: the other value, too, differs from it by half less than it may from a missing one.
                out[k] = kHalf;
                offset += 0.5;
                error += kHalf / scale_ - 0.5;
                continue;
            }
            out[k] = static_cast<Coarse>(std::lround(scale_ * v));
            error += std::abs(out[k] / scale_ - v);
        }
        for (std::size_t k = 0; k < nominal_.size(); ++k) {
            const double v = values[nominal_[k]];
            const std::uint32_t n = differences_.n_values(nominal_[k]);
            Coarse& code = out[numeric_width_ + k];
            if (std::isnan(v)) {
                code = kMissing<Coarse>;
                offset -= 1.0 / n;
                error += 1.0 / n;
                continue;
            }
            code = static_cast<Coarse>(static_cast<std::uint32_t>(v) % kMostCodes);
            if (n > kMostCodes) error += 0.5;  // two codes may look alike
        }
        offset_[place] = offset;
        error_[place] = error;
    }
}

// Estimates the distances of the rows to all others, times scale_ and without offsets, row after row.
template <class Coarse>
void Relief::estimate(const std::vector<Coarse>& lines, std::span<const std::uint32_t> rows,
                      std::span<std::uint64_t> estimates, const Stop& stop) const {
    const std::size_t n = n_rows();
    const std::size_t tile = std::max<std::size_t>(kTile / (sizeof(Coarse) * std::max<std::size_t>(width_, 1)), 8);
    for (std::size_t first = 0; first < n; first += tile) {
        check_stop(stop);
        const std::size_t end = std::min(first + tile, n);
        for (std::size_t t = 0; t < rows.size(); ++t) {
            const Coarse* own = &lines[place_[rows[t]] * width_];
            for (std::size_t i = first; i < end; ++i) {
                const Coarse* other = &lines[i * width_];
                estimates[t * n + i] = sum_of_differences(own, other, numeric_width_) +
                                       static_cast<std::uint64_t>(kScale<Coarse>) *
                                           number_of_differences(own + numeric_width_, other + numeric_width_,
                                                                 width_ - numeric_width_);
            }
        }
    }
}

// Adds to the candidates those of one class that may be among the nearest.
void Relief::collect(std::uint32_t row, std::size_t of_class, std::span<const std::uint64_t> estimates,
                     Scratch& scratch) const {
    auto& [candidates, nearest, heap] = scratch;
    const double offset = offset_[place_[row]], error = error_[place_[row]], wanted = options_.n_neighbors;
    heap.clear();
    double inside = 0, limit = std::numeric_limits<double>::infinity();
    std::uint64_t quick_limit = std::numeric_limits<std::uint64_t>::max();  // above it, no row can be inside the limit
    for (std::size_t i = class_begin_[of_class]; i < class_begin_[of_class + 1]; ++i) {
        if (estimates[i] > quick_limit) continue;
        const double estimate = double(estimates[i]) / scale_ + offset + offset_[i], slack = error + error_[i];
        if (!(estimate - slack <= limit)) continue;
        const std::uint32_t other = order_[i];
        // A row is not its own neighbour, but its repetitions are.
        const double w = other == row ? weight(row) - 1 : weight(other);
        if (!(w > 0)) continue;
        candidates.push_back({estimate - slack, other, w});
        // Beside a very large weight others would be lost in the sum; one far above what is wanted is enough.
        const double counted = std::min(w, kMuch * wanted);
        heap.emplace_back(estimate + slack, counted);
        std::push_heap(heap.begin(), heap.end());
        inside += counted;
        while (heap.size() > 1 && inside - heap.front().second >= wanted) {  // large weights: `inside` is rounded
            inside -= heap.front().second;
            std::pop_heap(heap.begin(), heap.end());
            heap.pop_back();
        }
        if (inside < wanted) continue;
        limit = heap.front().first;
        const double most = limit - offset - least_offset_ + error + most_error_;
        quick_limit = static_cast<std::uint64_t>(scale_ * std::max(0.0, most)) + 1;
    }
    if (inside >= wanted) std::erase_if(candidates, [&](const Near& near) { return near.distance > limit; });
}

// Influence of the nearest rows up to this weight, which need not be whole.
double Relief::influence_up_to(double rank) const noexcept {
    const double whole = std::floor(rank);
    if (whole >= double(influence_.size() - 1)) return influence_.back();
    const auto r = static_cast<std::size_t>(whole);
    return influence_[r] + (rank - whole) * (influence_[r + 1] - influence_[r]);
}

// Picks the nearest among the candidates by exact distances; their shares sum to one.
void Relief::settle(std::uint32_t row, Scratch& scratch) const {
    auto& candidates = scratch.candidates;
    for (auto& near : candidates) near.distance = differences_.distance(row, near.row);
    std::sort(candidates.begin(), candidates.end(), [](const Near& a, const Near& b) {
        return std::pair(a.distance, a.row) < std::pair(b.distance, b.row);
    });
    scratch.nearest.clear();
    const double tie = kDistanceTie * double(n_features_);
    double taken = 0, total = 0;
    for (std::size_t i = 0; i < candidates.size() && taken < options_.n_neighbors;) {
        std::size_t last = i;
        double weight = 0;
        for (; last < candidates.size() && candidates[last].distance - candidates[i].distance <= tie; ++last)
            weight += candidates[last].share;
        const double part = std::min(1.0, (options_.n_neighbors - taken) / weight), end = taken + weight * part;
        const double each = influence_.empty() ? part : (influence_up_to(end) - influence_up_to(taken)) / weight;
        for (; i < last; ++i) scratch.nearest.push_back({0, candidates[i].row, candidates[i].share * each});
        taken = end;
        total += weight * each;
    }
    for (auto& near : scratch.nearest) near.share /= total;
}

void Relief::count(std::uint32_t row, double factor, const Scratch& scratch, std::span<double> sums) const {
    for (const auto& near : scratch.nearest) differences_.add(row, near.row, factor * near.share, sums);
}

// How much the nearest rows, which are the candidates, differ from `row`, and how much where the quantity does.
void Relief::judge_quantity(std::uint32_t row, Scratch& scratch, std::span<double> sums) const {
    settle(row, scratch);
    count(row, weight(row), scratch, sums.first(n_features_));
    for (auto& near : scratch.nearest) {
        near.share *= std::abs(quantity_[row] - quantity_[near.row]);
        sums.back() += weight(row) * near.share;
    }
    count(row, weight(row), scratch, sums.subspan(n_features_, n_features_));
    scratch.candidates.clear();
}

// The nearest hits and misses of `row`, whose distances to all rows were estimated, and what they say of the features.
void Relief::judge(std::uint32_t row, std::span<const std::uint64_t> estimates, Scratch& scratch,
                   std::span<double> sums) const {
    const double total = std::accumulate(class_weight_.begin(), class_weight_.end(), 0.0);
    const auto own = static_cast<std::size_t>(target_[row]);
    double others = total - class_weight_[own];
    if (others < 0x1p-26 * total) {  // too little is left of them in the difference
        others = 0;
        for (std::size_t c = 0; c < class_weight_.size(); ++c)
            if (c != own) others += class_weight_[c];
    }
    const auto use = [&](double factor) {
        if (scratch.candidates.empty()) return;
        settle(row, scratch);
        count(row, weight(row) * factor, scratch, sums);
        scratch.candidates.clear();
    };
    collect(row, own, estimates, scratch);
    if (!quantity_.empty()) return judge_quantity(row, scratch, sums);
    use(-1.0);
    for (std::size_t c = 0; c < class_weight_.size(); ++c) {
        if (c == own) continue;
        collect(row, c, estimates, scratch);
        if (!options_.pool_misses) use(class_weight_[c] / others);
    }
    if (options_.pool_misses) use(1.0);
}

void Relief::add(std::span<const std::uint32_t> sample, std::span<double> sums,
                 const Stop& stop) const {
    const std::size_t n = n_rows();
    Scratch scratch;
    std::vector<std::uint64_t> estimates(kTogether * n);
    for (std::size_t begin = 0; begin < sample.size(); begin += kTogether) {
        const auto together = sample.subspan(begin, std::min(kTogether, sample.size() - begin));
        bytes_.empty() ? estimate(words_, together, estimates, stop) : estimate(bytes_, together, estimates, stop);
        for (std::size_t t = 0; t < together.size(); ++t)
            judge(together[t], std::span(estimates).subspan(t * n, n), scratch, sums);
    }
}

}  // namespace foresift
